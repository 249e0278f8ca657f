// SPDX-License-Identifier: Apache-2.0
// install, run, update and rollback of npm packages, against a registry of our own on loopback.
// node main.mjs --cordon FILE [--die-at-step FILE] [--filter TEXT]
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { installing } from './installing.mjs';
import { Registry, serverFiles } from './registry.mjs';
import { World, fine, finish, needsSandbox, options, refused, run } from './world.mjs';

const npmrc = (world, text) => world.setting('.npmrc', text);

async function world() {
  const registry = await new Registry().start();
  registry.publish({ name: 'dep', version: '1.0.0' }, { 'index.js': 'module.exports = 1;\n' });
  registry.publish({ name: 'srv', version: '1.0.0', bin: 'index.js', dependencies: { dep: '^1.0.0' } }, serverFiles(['one'], "require('dep');"));
  const out = new World('npm', registry);
  npmrc(out, `registry=${registry.url}\n`);
  return out;
}

const test = (name, body) => run(name, world, body);

await needsSandbox(world, '{npm: "none@1.0.0"}');

await test('nothing runs before it is installed, and everything runs without a registry afterwards', async (world, registry) => {
  world.write('{npm: "srv@1.0.0"}');
  const before = await world.cordon('capture', '--policy', world.policy, '-o', '-');
  refused(before, 'launch_failed', 'is not installed', 'mcp-cordon install');
  assert.equal(registry.requests.length, 0);
  fine(await world.install());
  fine(await world.review());
  await registry.stop();
  assert.deepEqual(await world.tools(), ['one']);
  fine(await world.cordon('check', '--deep', world.policy));
  fine(await world.cordon('diff', '--policy', world.policy, '--exit-code'));
  await registry.start();
});

await test('a review installs what is not there, and an open version becomes exact', async (world) => {
  world.write('{npm: srv}  # which one?');
  fine(await world.review());
  assert.ok(readFileSync(world.policy, 'utf8').includes('source: {npm: srv@1.0.0}  # which one?'));
  assert.deepEqual(await world.tools(), ['one']);
});

await test('allow_unpinned leaves the version open and starts what was recorded', async (world, registry) => {
  world.write('{npm: "srv@^1", allow_unpinned: true}');
  fine(await world.review());
  registry.publish({ name: 'srv', version: '1.1.0', bin: 'index.js' }, serverFiles(['one', 'two']));
  fine(await world.install());
  assert.deepEqual(await world.tools(), ['one']);
  assert.ok(readFileSync(world.policy, 'utf8').includes('srv@^1'));
});

await test('bytes that are not those of the digest are refused', async (world, registry) => {
  registry.packages.get('dep').get('1.0.0').bytes = Buffer.concat([registry.packages.get('dep').get('1.0.0').bytes, Buffer.from('x')]);
  world.write('{npm: "srv@1.0.0"}');
  refused(await world.install(), 'EINTEGRITY');
  assert.deepEqual(world.stored(), []);
});

await test('other bytes and digests under the same version are refused where the lock file was recorded', async (world, registry) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  registry.publish({ name: 'dep', version: '1.0.0' }, { 'index.js': 'module.exports = 2;\n' });
  // What is installed stays.
  fine(await world.install());
  assert.deepEqual(await world.tools(), ['one']);
  // A second machine with the same record.
  rmSync(world.data, { recursive: true });
  refused(await world.install(), 'EINTEGRITY');
  assert.deepEqual(world.stored(), []);
});

await test('without a record, other contents are another launch', async (world, registry) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  registry.publish({ name: 'dep', version: '1.0.0' }, { 'index.js': 'module.exports = 2;\n' });
  rmSync(path.join(world.folder, 's.lock.json'));
  fine(await world.install());
  const answer = await world.tools();
  assert.match(answer, /^launch_changed: .*the packages below npm:srv@1\.0\.0 changed/);
  const diff = await world.cordon('diff', '--policy', world.policy, '--exit-code');
  assert.equal(diff.status, 1, diff.text);
  assert.match(diff.text, /lock/);
});

await test('a changed file of the store is refused, and an installation mends it', async (world) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  const file = path.join(world.store, world.stored()[0], 'tree/node_modules/dep/index.js');
  chmodSync(file, 0o644);
  writeFileSync(file, 'module.exports = 3;\n');
  assert.match(await world.tools(), /^launch_changed: /);
  refused(await world.cordon('check', '--deep', world.policy), 'not those that were recorded');
  fine(await world.install());
  assert.deepEqual(await world.tools(), ['one']);
});

await test('without a registry the error says so, and what is there stays', async (world, registry) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  await registry.stop();
  const other = path.join(world.folder, 'other.yaml');
  writeFileSync(other, 'version: 1\nserver: o\nlaunch: {source: {npm: "dep@1.0.0"}, command: [dep]}\n');
  refused(await world.cordon('install', '--policy', other), 'the registry cannot be reached');
  assert.equal(world.stored().length, 1);
  assert.deepEqual(await world.tools(), ['one']);
  await registry.start();
});

await test('a version or package that is not there is named', async (world) => {
  world.write('{npm: "srv@9.9.9"}');
  refused(await world.install(), 'no such version');
  world.write('{npm: "none@1.0.0"}');
  refused(await world.install(), 'no such package');
});

await test('a package without a strong digest is refused', async (world, registry) => {
  registry.publish({ name: 'dep', version: '1.0.1' }, { 'index.js': '' }, { integrity: undefined });
  world.write('{npm: "srv@1.0.0"}');
  refused(await world.install(), 'has no sha512 digest');
  assert.deepEqual(world.stored(), []);
});

const scripted = (registry) =>
  registry.publish(
    { name: 'srv', version: '2.0.0', bin: 'index.js', scripts: { install: 'node made.js' } },
    {
      ...serverFiles(['one'], "const made = require('node:fs').existsSync(__dirname + '/made');").valueOf(),
      'made.js': `const http = require('node:http');
const done = (text) => require('node:fs').writeFileSync('made', text + JSON.stringify(Object.keys(process.env).filter((name) => name.includes('_auth'))));
http.get('${registry.url}dep', () => done('reached')).on('error', () => done('alone'));
`,
    },
  );

await test('no script runs, and what would have run is named', async (world, registry) => {
  scripted(registry);
  world.write('{npm: "srv@2.0.0"}');
  const installed = fine(await world.install());
  assert.match(installed.text, /srv would run scripts of its own/);
  assert.ok(!existsSync(path.join(world.store, world.stored()[0], 'tree/node_modules/srv/made')));
});

await test('an allowed script runs without network and token', async (world, registry) => {
  scripted(registry);
  npmrc(world, `registry=${registry.url}\n//127.0.0.1:${registry.port}/:_authToken=secret\n`);
  world.write('{npm: "srv@2.0.0", scripts: {allow: [srv]}}');
  fine(await world.install());
  assert.equal(readFileSync(path.join(world.store, world.stored()[0], 'tree/node_modules/srv/made'), 'utf8'), 'alone[]');
  fine(await world.review());
  assert.deepEqual(await world.tools(), ['one']);
});

await test('an allowed script leads the installation to no file of the user', async (world, registry) => {
  const project = path.join(world.folder, 'project');
  const names = ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'];
  mkdirSync(path.join(project, 'node_modules'), { recursive: true });
  for (const name of names) writeFileSync(path.join(project, name), '{}');
  const swaps = {
    '3.0.0': `fs.renameSync('/home/cordon/tree', '/home/cordon/away'); fs.symlinkSync(${JSON.stringify(project)}, '/home/cordon/tree');`,
    '3.0.1': `fs.renameSync('/home/cordon/tree/node_modules', '/home/cordon/tree/away'); fs.symlinkSync(${JSON.stringify(project + '/node_modules')}, '/home/cordon/tree/node_modules');`,
  };
  for (const [version, code] of Object.entries(swaps)) {
    registry.publish({ name: 'srv', version, bin: 'index.js', scripts: { install: 'node swap.js' } },
      { ...serverFiles(['one']), 'swap.js': `const fs = require('node:fs'); ${code}` });
    world.write(`{npm: "srv@${version}", scripts: {allow: [srv]}}`);
    refused(await world.install());
    for (const name of names) assert.ok(existsSync(path.join(project, name)), `${version}: ${name} is gone`);
    assert.deepEqual(world.stored().filter((name) => !name.startsWith('.')), []);
  }
});

await test('no repository is cloned, not even from the host of the registry', async (world, registry) => {
  registry.publish({ name: 'srv', version: '4.0.0', bin: 'index.js', dependencies: { dep: `git+http://127.0.0.1:${registry.port}/evil.git` } }, serverFiles(['one']));
  world.write('{npm: "srv@4.0.0"}');
  refused(await world.install(), 'it needs a repository, which has no digest');
  assert.deepEqual(registry.requests.filter(({ url }) => url.includes('evil')), []);
  assert.deepEqual(world.stored().filter((name) => !name.startsWith('.')), []);
});

await test('no package comes from an address, not even at the registry', async (world, registry) => {
  registry.publish({ name: 'srv', version: '4.0.1', bin: 'index.js', dependencies: { dep: `${registry.url}dep/-/dep-1.0.0.tgz` } }, serverFiles(['one']));
  world.write('{npm: "srv@4.0.1"}');
  refused(await world.install(), 'wants a package from an address and not from a registry');
  assert.deepEqual(world.stored().filter((name) => !name.startsWith('.')), []);
});

await test('no peer comes from an address either', async (world, registry) => {
  registry.publish({ name: 'srv', version: '4.0.1', bin: 'index.js', peerDependencies: { dep: `${registry.url}dep/-/dep-1.0.0.tgz` } }, serverFiles(['one']));
  world.write('{npm: "srv@4.0.1"}');
  refused(await world.install(), 'wants a package from an address and not from a registry');
});

await test('what a package brings in its own archive is installed with it', async (world, registry) => {
  registry.publish({ name: 'srv', version: '4.0.2', bin: 'index.js', dependencies: { own: '1.0.0' }, bundleDependencies: ['own'] },
    { ...serverFiles(['one'], "require('own');"), 'node_modules/own/package.json': '{"name":"own","version":"1.0.0"}', 'node_modules/own/index.js': '' });
  world.write('{npm: "srv@4.0.2"}');
  fine(await world.review());
  assert.deepEqual(await world.tools(), ['one']);
});

await test('the token goes to the registry and nowhere else', async (world, registry) => {
  const other = await new Registry().start();
  other.publish({ name: 'dep', version: '1.0.0' }, { 'index.js': '' });
  registry.publish({ name: 'dep', version: '1.0.0' }, { 'index.js': '' }, { tarball: `${other.url}dep/-/dep-1.0.0.tgz` });
  npmrc(world, `registry=${registry.url}\n//127.0.0.1:${registry.port}/:_authToken=secret-token\n`);
  world.write('{npm: "srv@1.0.0"}');
  const result = await world.install();
  refused(result, 'cannot be reached');
  assert.ok(!result.text.includes('secret-token'));
  assert.ok(registry.requests.some((request) => request.authorization === 'Bearer secret-token'));
  assert.equal(other.requests.length, 0);
  assert.deepEqual(world.stored(), []);
  await other.stop();
});

await installing(test, {
  kind: 'npm',
  spelled: (version) => `srv@${version}`,
  publish: (registry, version, tools) => registry.publish({ name: 'srv', version, bin: 'index.js' }, serverFiles(tools)),
  held: 'dep',
  file: 'dep-1.0.0.tgz',
  grow: (registry) => registry.publish({ name: 'dep', version: '1.5.0' }, { 'index.js': `module.exports = '${'x'.repeat(1_000_000)}';\n` }),
});

await test('a review that an update overtook writes nothing', async (world, registry) => {
  const sign = path.join(world.folder, 'sign');
  mkdirSync(sign);
  const waits = `console.error('waiting'); while (!require('node:fs').existsSync('${sign}/go')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);`;
  registry.publish({ name: 'srv', version: '6.0.0', bin: 'index.js' }, serverFiles(['one'], waits));
  registry.publish({ name: 'srv', version: '7.0.0', bin: 'index.js' }, serverFiles(['one', 'two']));
  world.write('{npm: "srv@6.0.0"}', `isolation: {filesystem: {runtime: [node], read: ["${sign}"]}}\n`);
  fine(await world.install());
  const slow = world.start('review', '--policy', world.policy, '--accept-all', '--reviewer', 't');
  slow.stdin.end();
  await new Promise((resolve) => { slow.stderr.on('data', () => slow.text.includes('waiting') && resolve()); slow.done.then(resolve); });
  fine(await world.cordon('update', '--policy', world.policy, '7.0.0', '--accept-all', '--reviewer', 't'));
  writeFileSync(path.join(sign, 'go'), '');
  refused(await slow.done, 'another package counts now than was reviewed');
  assert.deepEqual(await world.tools(), ['one', 'two']);
});

await test('who edits a policy while its package is fetched loses nothing', async (world, registry) => {
  world.write('{npm: "srv"}');
  const answer = registry.answer.bind(registry);
  registry.answer = (request, response) => {
    if (request.url.endsWith('.tgz')) writeFileSync(world.policy, `${readFileSync(world.policy, 'utf8')}# edited\n`);
    answer(request, response);
  };
  refused(await world.install(), 'launch_changed', 'was changed meanwhile');
  registry.answer = answer;
  assert.match(readFileSync(world.policy, 'utf8'), /# edited\n$/);
  fine(await world.install());
  assert.match(readFileSync(world.policy, 'utf8'), /srv@\d[\s\S]*# edited\n$/);
});

await test('updates, rollbacks and installations at once leave a policy that starts, and a way back', async (world, registry) => {
  for (const version of ['2.0.0', '3.0.0']) registry.publish({ name: 'srv', version, bin: 'index.js' }, serverFiles([`v${version[0]}`]));
  const update = (version) => world.cordon('update', '--policy', world.policy, version, '--accept-all', '--reviewer', 't');
  const back = () => world.cordon('rollback', '--policy', world.policy);
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  fine(await update('2.0.0'));
  for (const version of ['3.0.0', '2.0.0', '2.0.0', '3.0.0']) {
    await Promise.all([update(version), back(), back(), world.install()]);
    const before = await world.tools();
    assert.ok(Array.isArray(before), before);
    fine(await back());
    const after = await world.tools();
    assert.ok(Array.isArray(after), after);
    assert.notDeepEqual(after, before);
  }
});

await test('install says what is to be done next', async (world) => {
  world.write('{npm: "srv@1.0.0"}');
  assert.match(fine(await world.install()).text, /next: mcp-cordon review --policy/);
  fine(await world.review());
  assert.match(fine(await world.install()).text, /is reviewed; next: mcp-cordon run --policy/);
  rmSync(path.join(world.store, world.stored()[0]), { recursive: true });
  assert.match(fine(await world.install()).text, /is reviewed; next: mcp-cordon run --policy/);
});

await test('a rollback without an update says so', async (world) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  refused(await world.cordon('rollback', '--policy', world.policy), 'nothing to go back to');
});

await test('a policy that shares a package keeps it when another one mends it and goes', async (world) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  const other = path.join(world.folder, 'other.yaml');
  writeFileSync(other, 'version: 1\nserver: o\nlaunch: {source: {npm: "srv@1.0.0"}, command: [srv]}\n');
  fine(await world.cordon('install', '--policy', other));
  rmSync(path.join(world.store, world.stored()[0], 'tree/node_modules/dep/index.js'));
  fine(await world.cordon('install', '--policy', other));
  rmSync(other);
  assert.match(fine(await world.cordon('prune', '--yes')).text, /0 of 1 can be removed/);
  assert.deepEqual(await world.tools(), ['one']);
  // A record that lies elsewhere now, because the policy says so, keeps it.
  const written = readFileSync(world.policy, 'utf8');
  writeFileSync(world.policy, written.replace('catalog: {', 'catalog: {snapshot: elsewhere/s.catalog.json, '));
  mkdirSync(path.join(world.folder, 'elsewhere'));
  renameSync(path.join(world.folder, 's.lock.json'), path.join(world.folder, 'elsewhere/s.lock.json'));
  assert.match(fine(await world.cordon('prune', '--dry-run')).text, /used by \S*elsewhere\/s\.lock\.json[\s\S]*0 of 1 can be removed/);
  renameSync(path.join(world.folder, 'elsewhere/s.lock.json'), path.join(world.folder, 's.lock.json'));
  writeFileSync(world.policy, written);
  // Nobody can find a folder that was moved, but whoever is asked is told.
  renameSync(path.join(world.folder, 's.lock.json'), path.join(world.folder, 'moved.lock.json'));
  assert.match(fine(await world.cordon('prune', '--dry-run')).text, /s\.lock\.json, which did, is gone or was moved/);
});

await test('a command that sets a variable for the package is the policy that sets it', async (world) => {
  writeFileSync(world.policy, 'version: 1\nserver: s\nlaunch:\n  source: {npm: "srv@1.0.0"}\n  command: [srv]\n  environment: {set: {MODE: x}}\ncatalog: {accept_unattended: true}\n');
  fine(await world.review());
  assert.deepEqual(await world.tools('env', 'MODE=x', 'npx', '-y', 'srv'), ['one']);
  assert.match(await world.tools('env', 'MODE=y', 'npx', '-y', 'srv'), /^launch_changed: /);
});

await test('another version in the policy alone is not started', async (world) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  world.write('{npm: "srv@1.1.0"}');
  assert.match(await world.tools(), /^launch_failed: .*the policy wants srv@1\.1\.0/);
});

await test('a write grant of the store is refused', async (world) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.install());
  world.write('{npm: "srv@1.0.0"}', `isolation: {filesystem: {write: [{path: "${world.store}", reason: test}]}}\n`);
  refused(await world.cordon('capture', '--policy', world.policy, '-o', '-'), 'policy_invalid', 'decides what the next launch does');
});

const dying = options['die-at-step'];
if (!dying) console.log('[skip] a switch that is cut off: no --die-at-step');
else await test('an update or rollback that is cut off at any step is completed by the next command', async (world, registry) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  registry.publish({ name: 'srv', version: '2.0.0', bin: 'index.js' }, serverFiles(['one', 'two']));
  const pending = path.join(world.data, 'mcp-cordon/pending');
  const left = () => (existsSync(pending) ? readdirSync(pending).filter((name) => name.endsWith('.json')) : []);
  const diesAt = async (step, ...words) => {
    const child = spawn(options.cordon, words, { env: { ...world.env, LD_PRELOAD: dying, CORDON_TEST_DIE_AT: String(step) }, stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.resume();
    return new Promise((resolve) => child.once('close', (status, signal) => resolve(signal === 'SIGKILL' ? 'killed' : status)));
  };
  const update = ['update', '--policy', world.policy, '2.0.0', '--accept-all', '--reviewer', 't'];
  let steps = 0;
  for (;; ++steps) {
    const end = await diesAt(steps, ...update);
    if (end === 'killed' && steps !== 0) {
      assert.match(fine(await world.cordon('facts', '--policy', world.policy)).text, /cut off is now complete: .*s\.yaml/);
    }
    // Before all is written down, nothing happened.
    assert.deepEqual(await world.tools(), end === 'killed' && steps === 0 ? ['one'] : ['one', 'two'], `step ${steps}: ${end}`);
    assert.deepEqual(left(), []);
    if (end !== 'killed') break;
    if (steps === 0) continue;
    fine(await world.cordon('diff', '--policy', world.policy, '--exit-code'));
    assert.ok(readFileSync(world.policy, 'utf8').includes('srv@2.0.0'));
    fine(await world.cordon('rollback', '--policy', world.policy));
    assert.deepEqual(await world.tools(), ['one']);
  }
  assert.ok(steps > 7, `${steps} steps`);
  for (const step of [0, 2, 4, 5, 6, 8]) {
    assert.equal(await diesAt(step, 'rollback', '--policy', world.policy), 'killed', `step ${step}`);
    assert.deepEqual(await world.tools(), step === 0 ? ['one', 'two'] : ['one'], `step ${step}`);
    if (step !== 0) fine(await world.cordon('rollback', '--policy', world.policy));
  }
  // Somebody's edit is not undone.
  assert.equal(await diesAt(5, 'rollback', '--policy', world.policy), 'killed');
  writeFileSync(world.policy, `${readFileSync(world.policy, 'utf8')}# mine\n`);
  refused(await world.cordon('diff', '--policy', world.policy), 'an update was cut off', 's.yaml');
  assert.ok(readFileSync(world.policy, 'utf8').endsWith('# mine\n'));
  assert.deepEqual(left(), []);
});

await test('a list of changes that is none of ours changes nothing', async (world) => {
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  const pending = path.join(world.data, 'mcp-cordon/pending');
  const file = path.join(pending, `${createHash('sha256').update(world.policy).digest('hex').slice(0, 32)}.json`);
  const victim = path.join(world.home, '.profile');
  const put = (changes) => writeFileSync(file, JSON.stringify({ format: 'mcp-cordon.pending', policy: world.policy, changes }), { mode: 0o600 });
  put([{ path: victim, before: '', mode: '420', text: 'x' }]);
  assert.match(await world.tools(), /would change .*\.profile/);
  assert.ok(!existsSync(victim));
  writeFileSync(victim, 'mine');
  put([{ path: victim, before: `sha256:${createHash('sha256').update('mine').digest('hex')}`, mode: '420' }]);
  assert.match(await world.tools(), /would change .*\.profile/);
  assert.equal(readFileSync(victim, 'utf8'), 'mine');
  for (const text of ['', '{', '[]']) {
    writeFileSync(file, text);
    assert.match(await world.tools(), /^launch_failed: is no list of changes/);
  }
  rmSync(file);
  assert.deepEqual(await world.tools(), ['one']);
});

await test('prune removes what neither a record nor a rollback nor a session needs', async (world, registry) => {
  const update = async (version) => {
    registry.publish({ name: 'srv', version, bin: 'index.js' }, serverFiles(['one', `v${version[0]}`]));
    fine(await world.cordon('update', '--policy', world.policy, version, '--accept-all', '--reviewer', 't'));
  };
  const prune = (...words) => world.cordon('prune', ...words);
  assert.match(fine(await prune('--dry-run')).text, /^nothing is installed/);
  world.write('{npm: "srv@1.0.0"}');
  fine(await world.review());
  await update('2.0.0');
  assert.match(fine(await prune('--yes')).text, /0 of 2 can be removed/);
  await update('3.0.0');
  assert.match(fine(await prune('--dry-run')).text, /remove npm:srv@1\.0\.0 .*no policy's record names it[\s\S]*1 of 3 can be removed/);
  assert.equal(world.stored().length, 3);
  refused(await prune(), 'terminal');
  assert.equal(world.stored().length, 3);
  assert.match(fine(await prune('--yes')).text, /removed 1, /);
  assert.equal(world.stored().length, 2);
  assert.deepEqual(await world.tools(), ['one', 'v3']);
  fine(await world.cordon('rollback', '--policy', world.policy));
  assert.deepEqual(await world.tools(), ['one', 'v2']);
  fine(await world.cordon('rollback', '--policy', world.policy));
  // A session keeps what it runs from.
  const session = world.start('run', '--policy', world.policy);
  session.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } })}\n`);
  await new Promise((resolve) => session.stdout.once('data', resolve));
  await update('4.0.0');
  await update('5.0.0');
  assert.match(fine(await prune('--yes')).text, /keep   npm:srv@3\.0\.0 .*a session[\s\S]*removed 1, /);
  session.stdin.end();
  await session.done;
  assert.match(fine(await prune('--yes')).text, /remove npm:srv@3\.0\.0[\s\S]*removed 1, /);
  assert.equal(world.stored().length, 2);
  // What cannot be known is kept; what was cut off is not.
  const record = path.join(world.folder, 's.lock.json');
  const known = readFileSync(record);
  const previous = world.stored().map((name) => path.join(world.store, name, 'users'));
  const users = previous.map((file) => readFileSync(file));
  writeFileSync(record, '{}');
  assert.match(fine(await prune('--yes')).text, /cannot be understood, and may name it[\s\S]*0 of 2/);
  writeFileSync(record, known);
  mkdirSync(path.join(world.store, '.new-cut'));
  rmSync(previous[0]);
  writeFileSync(previous[1], 'torn');
  rmSync(world.policy);
  assert.match(fine(await prune('--yes')).text, /nobody knows who uses it[\s\S]*nobody knows who uses it[\s\S]*1 of 3[\s\S]*removed 1, /);
  previous.forEach((file, i) => writeFileSync(file, users[i]));
  // Without its policy nothing is used.
  assert.match(fine(await prune('--yes')).text, /removed 2, /);
  assert.deepEqual(world.stored(), []);
});

finish();
