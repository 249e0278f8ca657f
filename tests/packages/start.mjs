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

async function world() {
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
  environment: {set: {MARK: ${out.mark}}, secrets: {S: {from_command: [sh, -c, "echo value | tee ${out.fetched}"]}}}
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

// Starts the server with a look at its files that stops before the one named `at`; `meanwhile` happens once the program
// waits for that look and has nothing else to do. Gives the tools, or the message of the error.
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
  assert.deepEqual(children(world.last.pid), []);
  await meanwhile(world);
  const go = openSync(path.join(hold, 'go'), 'r+');
  writeFileSync(go, 'x');
  const result = await answer;
  closeSync(go);
  await said.close();
  world.variables = {};
  rmSync(hold, { recursive: true });
  return result;
}

if (!options['hold-check']) console.log('[skip] a change during the look: no --hold-check');
else {
  await test('nothing is started and no secret is fetched before the look at the files has ended', async (world) => {
    for (const at of ['node_modules/dep/index.js', 'node_modules/srv/index.js']) {
      assert.deepEqual(await held(world, at, () => {}), ['one']);
      assert.deepEqual(world.left(), [world.mark, world.fetched]);
      world.forget();
    }
  });

  await test('what changes during the look, before it comes there, is refused', async (world) => {
    const { folder, modules } = world;
    const steps = {
      'the file itself': () => put(path.join(modules, 'srv/index.js'), `require('node:fs').writeFileSync(process.env.MARK, 'other');\n`),
      'a folder behind it': () => writeFileSync(path.join(modules, 'srv/new.js'), ''),
      'a link': () => {
        renameSync(path.join(modules, 'srv/index.js'), path.join(folder, 'index.js'));
        symlinkSync(path.join(folder, 'index.js'), path.join(modules, 'srv/index.js'));
      },
    };
    for (const [name, change] of Object.entries(steps)) {
      const at = name === 'a folder behind it' ? 'node_modules/srv' : 'node_modules/srv/index.js';
      assert.match(await held(world, at, change), /^launch_changed: /, name);
      assert.deepEqual(world.left(), [], name);
      fine(await world.install());
    }
  });
}

finish();
