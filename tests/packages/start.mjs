// SPDX-License-Identifier: Apache-2.0
// What is started is what was installed: nothing of a tree that changed since runs, and no secret is fetched for it, also
// when it changes while it is looked at. The server of this test leaves a mark as soon as its code runs.
// node start.mjs --cordon FILE [--hold-check FILE] [--filter TEXT]
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Registry, serverFiles } from './registry.mjs';
import { World, fine, finish, needsSandbox, options, run } from './world.mjs';

// `secrets`: whether one is fetched for the server.
async function world(secrets = true) {
  const registry = await new Registry().start();
  // Several threads look at so many files.
  const many = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`d${i % 50}/f${i}.txt`, String(i)]));
  registry.publish({ name: 'dep', version: '1.0.0' }, { ...many, 'index.js': 'module.exports = 1;\n', 'lib/a.js': '1;\n', 'zz/last.js': '1;\n' });
  registry.publish({ name: 'srv', version: '1.0.0', bin: 'index.js', dependencies: { dep: '^1.0.0' } },
    serverFiles(['one'], "require('node:fs').writeFileSync(process.env.MARK, ''); require('dep');"));
  const out = new World('npm', registry);
  out.setting('.npmrc', `registry=${registry.url}\n`);
  out.granted = path.join(out.folder, 'granted');
  out.mark = path.join(out.granted, 'mark');
  out.fetched = path.join(out.folder, 'fetched');
  mkdirSync(out.granted, { mode: 0o777 });
  chmodSync(out.granted, 0o777);  // started by root, the server is somebody else
  writeFileSync(out.policy, `version: 1
server: s
launch:
  source: {npm: "srv@1.0.0"}
  command: [srv]
  environment: {set: {MARK: ${out.mark}}${secrets ? `, secrets: {S: {from_command: [sh, -c, "echo value | tee ${out.fetched}"]}}` : ''}}
catalog: {accept_unattended: true}
isolation: {filesystem: {write: [${out.granted}]}}
`);
  fine(await out.install());
  fine(await out.review());
  out.tree = path.join(out.store, out.stored()[0], 'tree');
  out.modules = path.join(out.tree, 'node_modules');
  out.forget = () => [out.mark, out.fetched].forEach((file) => rmSync(file, { force: true }));
  out.left = () => [out.mark, out.fetched].filter(existsSync);
  out.forget();
  return out;
}

const test = (name, body) => run(name, world, body);
const testWithout = (name, body) => run(name, () => world(false), body);
await needsSandbox(async () => {
  const registry = await new Registry().start();
  const out = new World('npm', registry);
  out.setting('.npmrc', `registry=${registry.url}\n`);
  return out;
}, '{npm: "none@1.0.0"}');

const put = (file, text) => {
  chmodSync(file, 0o644);
  writeFileSync(file, text);
};
const changes = {
  'another content': ({ modules }) => put(path.join(modules, 'dep/index.js'), 'module.exports = 3;\n'),
  'another content of the same size and time': ({ modules }) => {
    const file = path.join(modules, 'dep/index.js');
    const { atime, mtime } = statSync(file);
    put(file, 'module.exports = 2;\n');
    utimesSync(file, atime, mtime);
    chmodSync(file, 0o444);
  },
  'another content of the last file': ({ modules }) => put(path.join(modules, 'srv/index.js'), `require('node:fs').writeFileSync(process.env.MARK, 'other');\n`),
  'a file added': ({ modules }) => writeFileSync(path.join(modules, 'dep/new.js'), ''),
  'a file added beside all': ({ tree }) => writeFileSync(path.join(tree, 'new.js'), ''),
  'a package added': ({ modules }) => mkdirSync(path.join(modules, 'new')),
  'a file removed': ({ modules }) => rmSync(path.join(modules, 'dep/zz/last.js')),
  'a link to the same content': ({ modules, folder }) => {
    renameSync(path.join(modules, 'dep/index.js'), path.join(folder, 'same.js'));
    symlinkSync(path.join(folder, 'same.js'), path.join(modules, 'dep/index.js'));
  },
  'a link in place of a folder': ({ modules, folder }) => {
    renameSync(path.join(modules, 'dep/lib'), path.join(folder, 'lib'));
    symlinkSync(path.join(folder, 'lib'), path.join(modules, 'dep/lib'));
  },
  'another file in its place': ({ modules, folder }) => {
    writeFileSync(path.join(folder, 'other.js'), 'module.exports = 4;\n');
    renameSync(path.join(folder, 'other.js'), path.join(modules, 'dep/index.js'));
  },
  'a right to execute': ({ modules }) => chmodSync(path.join(modules, 'dep/lib/a.js'), (statSync(path.join(modules, 'dep/lib/a.js')).mode & 0o777) ^ 0o111),
  'the manifest gone': ({ modules }) => rmSync(path.join(modules, 'srv/package.json')),
};

await test('nothing of a tree that changed is started, and no secret is fetched for it', async (world) => {
  assert.deepEqual(await world.tools(), ['one']);
  assert.deepEqual(world.left(), [world.mark, world.fetched]);
  world.forget();
  for (const [name, change] of Object.entries(changes)) {
    change(world);
    assert.match(await world.tools(), /^launch_changed: /, name);
    assert.deepEqual(world.left(), [], name);
    fine(await world.install());
    assert.deepEqual(await world.tools(), ['one'], name);
    world.forget();
  }
});

await test('a copied store is read once, and runs', async (world) => {
  const witness = path.join(path.dirname(world.tree), 'witness');
  const before = readFileSync(witness);
  cpSync(world.tree, `${world.tree}2`, { recursive: true, verbatimSymlinks: true });
  rmSync(world.tree, { recursive: true });
  renameSync(`${world.tree}2`, world.tree);
  assert.deepEqual(await world.tools(), ['one']);
  const after = readFileSync(witness);
  assert.notDeepEqual(after, before);
  assert.deepEqual(await world.tools(), ['one']);
  assert.deepEqual(readFileSync(witness), after);
});

const children = (pid) => readdirSync(`/proc/${pid}/task`).flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean));

const descendants = (pid) => children(pid).flatMap((child) => [child, ...descendants(child)]);
// Not what only waits to be reaped.
const exists = (pid) => {
  try { return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z '); } catch { return false; }
};
async function until(condition, what) {
  for (const end = Date.now() + 20_000; !condition();) {
    assert.ok(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

// Starts the server with a look at its files that stops before the one named `at`; `meanwhile` happens once the program
// waits for that look and has nothing else to do. Gives the tools, or the message of the error; null when `meanwhile`
// says that there is nothing to wait for.
async function held(world, at, meanwhile) {
  const hold = path.join(world.folder, 'hold');
  mkdirSync(hold);
  for (const name of ['said', 'go']) assert.equal(spawnSync('mkfifo', [path.join(hold, name)]).status, 0);
  // For reading and writing, so that nobody sees an end.
  const said = await open(path.join(hold, 'said'), 'r+');
  world.variables = { LD_PRELOAD: options['hold-check'], CORDON_TEST_HOLD: hold, CORDON_TEST_HOLD_AT: at };
  const answer = world.tools();
  const letters = [];
  while (!(letters.includes('h') && letters.includes('w'))) letters.push((await said.read(Buffer.alloc(1))).buffer.toString());
  assert.deepEqual(world.left(), []);
  let result = null;
  if (await meanwhile(world) !== false) {
    const go = openSync(path.join(hold, 'go'), 'r+');
    writeFileSync(go, 'x');
    result = await answer;
    closeSync(go);
  }
  await said.close();
  world.variables = {};
  rmSync(hold, { recursive: true });
  return result;
}

// Until the sandbox stands and the last of its processes waits, its filter of system calls in force. Gives them all;
// none is anything but our helper.
async function standing(world) {
  let all = [];
  const waits = () => {
    all = descendants(world.last.pid);
    try {
      return all.some((pid) => /Seccomp:\t2/.test(readFileSync(`/proc/${pid}/status`, 'utf8')) && / S /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
    } catch { return false; }
  };
  await until(waits, 'the sandbox does not get ready');
  for (const pid of all) assert.match(readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /^mcp-cordon-stage/);
  assert.deepEqual(world.left(), []);
  return all;
}

if (!options['hold-check']) console.log('[skip] a change during the look: no --hold-check');
else {
  await test('nothing is started and no secret is fetched before the look at the files has ended', async (world) => {
    for (const at of ['node_modules/dep/index.js', 'node_modules/srv/index.js']) {
      assert.deepEqual(await held(world, at, () => assert.deepEqual(children(world.last.pid), [])), ['one']);
      assert.deepEqual(world.left(), [world.mark, world.fetched]);
      world.forget();
    }
  });

  await testWithout('the sandbox is set up beside the look, and nothing is executed in it before that has ended', async (world) => {
    for (const at of ['node_modules/dep/index.js', 'node_modules/srv/index.js']) {
      assert.deepEqual(await held(world, at, () => standing(world).then(() => {})), ['one']);
      assert.deepEqual(world.left(), [world.mark]);
      world.forget();
    }
  });

  await testWithout('who is killed during the look leaves nothing of the sandbox behind', async (world) => {
    for (const whom of ['launcher', 'guard', 'server']) {
      let all = [];
      const result = await held(world, 'node_modules/srv/index.js', async () => {
        all = await standing(world);
        process.kill({ launcher: world.last.pid, guard: all[0], server: all.at(-1) }[whom], 'SIGKILL');
        await until(() => !all.some(exists), `something stays when ${whom} is killed`);
        return whom !== 'launcher';
      });
      if (whom !== 'launcher') assert.match(result, /^launch_failed: /, whom);
      assert.deepEqual(world.left(), [], whom);
    }
  });

  for (const [prepared, how] of [[test, 'before a sandbox is made'], [testWithout, 'while the sandbox is made']]) await prepared(`what changes during the look, before it comes there, is refused, ${how}`, async (world) => {
    const { folder, modules, tree } = world;
    const steps = {
      'the whole tree, for a moment': () => {
        renameSync(tree, `${tree}2`);
        renameSync(`${tree}2`, tree);
      },
      'the file itself': () => put(path.join(modules, 'srv/index.js'), `require('node:fs').writeFileSync(process.env.MARK, 'other');\n`),
      'a folder behind it': () => writeFileSync(path.join(modules, 'srv/new.js'), ''),
      'a link': () => {
        renameSync(path.join(modules, 'srv/index.js'), path.join(folder, 'index.js'));
        symlinkSync(path.join(folder, 'index.js'), path.join(modules, 'srv/index.js'));
      },
    };
    for (const [name, change] of Object.entries(steps)) {
      const at = name === 'a folder behind it' ? 'node_modules/srv' : 'node_modules/srv/index.js';
      let all = [];
      const result = await held(world, at, async () => {
        if (prepared === testWithout) all = await standing(world);
        change();
      });
      assert.match(result, /^launch_changed: /, name);
      assert.deepEqual(world.left(), [], name);
      await until(() => !all.some(exists), `${name}: something stays`);
      fine(await world.install());
    }
  });
}

finish();
