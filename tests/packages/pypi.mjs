// SPDX-License-Identifier: Apache-2.0
// install, run, update and rollback of packages of PyPI, against an index of our own on loopback.
// node pypi.mjs --cordon FILE [--filter TEXT]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Index, serverModule, wheel } from './index.mjs';
import { installing } from './installing.mjs';
import { World, fine, finish, needsSandbox, refused, run } from './world.mjs';

const server = (version, tools, more = '', rest = {}) => ({
  name: 'srv', version, files: { 'srv_mod/__init__.py': '', 'srv_mod/cli.py': serverModule(tools, more) },
  requires: ['dep>=1'], programs: { srv: 'srv_mod.cli:main' }, ...rest,
});
const dep = (version, text = 'one = 1\n') => ({ name: 'dep', version, files: { 'dep.py': text } });

const pipConf = (world, text) => world.setting('.config/pip/pip.conf', text);

async function world() {
  const index = await new Index().start();
  index.publish(dep('1.0'));
  index.publish(server('1.0.0', ['one'], 'import dep'));
  const out = new World('pypi', index);
  pipConf(out, `[global]\nindex-url = ${index.url}\n`);
  return out;
}

const test = (name, body) => run(name, world, body);
const tree = (world) => path.join(world.store, world.stored()[0], 'tree/site-packages');
const nothingKept = (world) => assert.deepEqual(world.stored().filter((name) => !name.startsWith('.new-')), []);

await needsSandbox(world, '{pypi: "none==1.0"}');

await test('nothing runs before it is installed, and everything runs without an index afterwards', async (world, index) => {
  world.write('{pypi: "srv==1.0.0"}');
  refused(await world.cordon('capture', '--policy', world.policy, '-o', '-'), 'launch_failed', 'srv==1.0.0 is not installed', 'mcp-cordon install');
  assert.equal(index.requests.length, 0);
  fine(await world.install());
  fine(await world.review());
  await index.stop();
  assert.deepEqual(await world.tools(), ['one']);
  fine(await world.cordon('check', '--deep', world.policy));
  fine(await world.cordon('diff', '--policy', world.policy, '--exit-code'));
  const record = JSON.parse(readFileSync(path.join(world.folder, 's.lock.json'), 'utf8'));
  assert.match(record.lock, /^# wheels for cpython-\S+\ndep==1\.0 --hash=sha256:[0-9a-f]{64}\nsrv==1\.0\.0 --hash=sha256:[0-9a-f]{64}\n$/);
  await index.start();
});

await test('an index in HTML will do', async (world, index) => {
  index.html = true;
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.review());
  assert.deepEqual(await world.tools(), ['one']);
});

await test('a review installs what is not there, and an open version becomes exact', async (world) => {
  world.write('{pypi: "srv>=1"}  # which one?');
  fine(await world.review());
  assert.ok(readFileSync(world.policy, 'utf8').includes('source: {pypi: "srv==1.0.0"}  # which one?'));
  assert.deepEqual(await world.tools(), ['one']);
});

await test('an extra brings what it needs', async (world, index) => {
  index.publish({ name: 'more', version: '2.0', files: { 'more.py': '' } });
  index.publish(server('1.1.0', ['one'], 'import dep, more', { extras: { cli: ['more'] } }));
  world.write('{pypi: "srv[cli]==1.1.0"}');
  fine(await world.review());
  assert.deepEqual(await world.tools(), ['one']);
  assert.ok(readFileSync(path.join(world.folder, 's.lock.json'), 'utf8').includes('more==2.0'));
});

await test('a command of uvx means the launch of the policy', async (world) => {
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.review());
  for (const command of [['uvx', 'srv'], ['uvx', 'srv@1.0.0'], ['uvx', 'srv@latest'], ['uvx', '--from', 'srv==1.0.0', 'srv'], ['uv', 'tool', 'run', 'SRV'], ['uv', 'run', '--with', 'srv', 'srv'], ['pipx', 'run', '--spec', 'srv==1.0.0', 'srv']]) {
    assert.deepEqual(await world.tools(...command), ['one'], command.join(' '));
  }
  for (const command of [['uvx', 'srv@1.0.1'], ['uvx', 'srv', '--flag'], ['uvx', 'other'], ['uvx', '--index', 'https://x.test/', 'srv']]) {
    assert.match(await world.tools(...command), /^launch_changed: /, command.join(' '));
  }
});

await test('a uvx that reaches the sandbox fails at once', async (world) => {
  mkdirSync(path.join(world.folder, 'bin'));
  writeFileSync(path.join(world.folder, 'bin/uvx'), '#!/bin/sh\nsleep 60\n', { mode: 0o755 });
  world.variables.PATH = `${path.join(world.folder, 'bin')}:${process.env.PATH}`;
  writeFileSync(world.policy, 'version: 1\nserver: s\nlaunch: {command: [uvx, srv]}\n');
  refused(await world.cordon('capture', '--policy', world.policy, '-o', '-'), "uvx fetches 'srv' at every start", 'let launch.source name it, {pypi: "srv"}');
});

await test('a policy that init writes from uvx installs and starts', async (world) => {
  fine(await world.cordon('init', 's', '--', 'uvx', 'srv@latest', '--flag'));
  const file = path.join(world.home, '.config/mcp-cordon/policies/s.yaml');
  assert.match(readFileSync(file, 'utf8'), /source: \{pypi: "srv"\}\n {2}command: \["srv", "--flag"\]/);
  fine(await world.cordon('review', 's', '--accept-all', '--reviewer', 't'));
  assert.match(readFileSync(file, 'utf8'), /source: \{pypi: "srv==1\.0\.0"\}/);
});

await test('bytes that are not those of the digest are refused', async (world, index) => {
  index.publish(dep('1.0'), { sha256: '0'.repeat(64) });
  world.write('{pypi: "srv==1.0.0"}');
  refused(await world.install(), 'does not have the contents that its digest says');
  nothingKept(world);
});

await test('other bytes and digests under the same version are refused where the lock file was recorded', async (world, index) => {
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.review());
  index.publish(dep('1.0', 'one = 2\n'));
  // What is installed stays.
  fine(await world.install());
  assert.deepEqual(await world.tools(), ['one']);
  // A second machine with the same record.
  rmSync(world.data, { recursive: true });
  refused(await world.install(), 'does not have the contents that its digest says');
  nothingKept(world);
});

await test('a second machine gets the same files from the record, though newer ones are there', async (world, index) => {
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.review());
  index.publish(dep('1.1'));
  rmSync(world.data, { recursive: true });
  fine(await world.install());
  assert.ok(existsSync(path.join(tree(world), 'dep-1.0.dist-info')));
  assert.deepEqual(await world.tools(), ['one']);
});

await test('without a record, other contents are another launch', async (world, index) => {
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.review());
  index.publish(dep('1.0', 'one = 2\n'));
  rmSync(path.join(world.folder, 's.lock.json'));
  fine(await world.install());
  assert.match(await world.tools(), /^launch_changed: .*the packages below pypi:srv==1\.0\.0 changed/);
  const diff = await world.cordon('diff', '--policy', world.policy, '--exit-code');
  assert.equal(diff.status, 1, diff.text);
  assert.match(diff.text, /lock/);
});

await test('a changed file of the store is refused, compiled or not, and an installation mends it', async (world) => {
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.review());
  const compiled = readdirSync(path.join(tree(world), '__pycache__')).find((name) => name.startsWith('dep.'));
  for (const name of ['dep.py', `__pycache__/${compiled}`]) {
    const file = path.join(tree(world), name);
    chmodSync(file, 0o644);
    writeFileSync(file, 'one = 3\n');
    assert.match(await world.tools(), /^launch_changed: /, name);
    refused(await world.cordon('check', '--deep', world.policy), 'not those that were recorded');
    fine(await world.install());
    assert.deepEqual(await world.tools(), ['one']);
  }
});

await test('the record of another Python is not taken for that of this one', async (world) => {
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.install());
  const file = path.join(world.folder, 's.lock.json');
  const record = JSON.parse(readFileSync(file, 'utf8'));
  record.platform = 'cpython-399-x86_64-linux-gnu';
  writeFileSync(file, JSON.stringify(record));
  refused(await world.cordon('check', file), "'lock' is for another platform");
});

await test('without an index the error says so, and what is there stays', async (world, index) => {
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.review());
  await index.stop();
  const other = path.join(world.folder, 'other.yaml');
  writeFileSync(other, 'version: 1\nserver: o\nlaunch: {source: {pypi: "dep==1.0"}, command: [dep]}\n');
  refused(await world.cordon('install', '--policy', other), 'the registry cannot be reached');
  assert.equal(world.stored().length, 1);
  assert.deepEqual(await world.tools(), ['one']);
  await index.start();
});

await test('a version or package that is not there is named', async (world) => {
  for (const source of ['srv==9.9.9', 'none==1.0']) {
    world.write(`{pypi: "${source}"}`);
    refused(await world.install(), 'no such package or version', source);
  }
});

await test('source archives are refused, and so is what needs another Python', async (world, index) => {
  index.publish({ name: 'built', version: '1.0' }, { file: 'built-1.0.tar.gz', bytes: Buffer.from('x') });
  index.publish({ name: 'srv', version: '2.0.0' }, { file: 'srv-2.0.0.tar.gz', bytes: Buffer.from('x') });
  index.publish(server('3.0.0', ['one'], '', { python: '>=99' }));
  for (const source of ['built', 'srv==2.0.0']) {
    world.write(`{pypi: "${source}"}`);
    refused(await world.install(), 'is there as source only, and building that would run its code');
  }
  world.write('{pypi: "srv==3.0.0"}');
  refused(await world.install(), 'it needs another version of Python');
  assert.deepEqual(index.requests.filter(({ url }) => url.endsWith('.tar.gz')), []);
  nothingKept(world);
});

await test('a package without a digest of the strong kind is refused', async (world, index) => {
  index.publish(dep('1.1'), { sha256: undefined, hashes: { md5: createHash('md5').update(wheel(dep('1.1'))).digest('hex') } });
  world.write('{pypi: "srv==1.0.0"}');
  refused(await world.install(), "'dep' has no sha256 digest");
  nothingKept(world);
});

await test('no package comes from an address, not even at the index', async (world, index) => {
  index.publish(server('4.0.0', ['one'], '', { requires: [`dep @ http://127.0.0.1:${index.port}/files/dep-1.0-py3-none-any.whl`] }));
  world.write('{pypi: "srv==4.0.0"}');
  refused(await world.install(), 'comes from an address and not from the index');
  nothingKept(world);
});

await test('files at another host, and pages that are said to be there, are not fetched', async (world, index) => {
  const other = await new Index().start();
  other.publish(dep('1.0'));
  index.publish(dep('1.0'), { url: `http://127.0.0.1:${other.port}/files/dep-1.0-py3-none-any.whl` });
  world.write('{pypi: "srv==1.0.0"}');
  refused(await world.install(), `it was led to 127.0.0.1:${other.port}, which is not the registry`, '[mcp-cordon] file-hosts');
  nothingKept(world);
  // The setting that the message names.
  pipConf(world, `[global]\nindex-url = ${index.url}\n[mcp-cordon]\nfile-hosts = http://127.0.0.1:${other.port}\n`);
  fine(await world.install());
  rmSync(world.data, { recursive: true });
  rmSync(path.join(world.folder, 's.lock.json'));
  pipConf(world, `[global]\nindex-url = ${index.url}\n`);
  index.redirect = `http://127.0.0.1:${other.port}`;
  other.requests.length = 0;
  refused(await world.install(), `it was led to 127.0.0.1:${other.port}, which is not the registry`);
  assert.deepEqual(other.requests, []);
  nothingKept(world);
  await other.stop();
});

await test('the password goes to the index and nowhere else, and is shown nowhere', async (world, index) => {
  const other = await new Index().start();
  other.publish(dep('1.0'));
  index.publish(dep('1.0'), { url: `http://127.0.0.1:${other.port}/files/dep-1.0-py3-none-any.whl` });
  const files = `[mcp-cordon]\nfile-hosts = http://127.0.0.1:${other.port}\n`;
  const basic = `Basic ${Buffer.from('me:secret-word').toString('base64')}`;
  world.write('{pypi: "srv==1.0.0"}');
  for (const how of ['url', 'netrc']) {
    world.setting('.netrc', how === 'netrc' ? 'machine 127.0.0.1 login me password secret-word\n' : '');
    pipConf(world, `[global]\nindex-url = ${how === 'url' ? index.url.replace('//', '//me:secret-word@') : index.url}\n${files}`);
    index.requests.length = 0;
    const result = fine(await world.install());
    assert.ok(!result.text.includes('secret-word'), result.text);
    assert.ok(index.requests.some((request) => request.authorization === basic), how);
    assert.ok(other.requests.length > 0 && other.requests.every((request) => !request.authorization), how);
    rmSync(world.data, { recursive: true });
    rmSync(path.join(world.folder, 's.lock.json'));
  }
  world.write('{pypi: "none==1.0"}');
  const failed = await world.install();
  refused(failed);
  assert.ok(!failed.text.includes('secret-word'), failed.text);
  await other.stop();
});

await test('a registry with a certificate of its own is believed where the user says so', async (world, index) => {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(world.folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=index', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const secure = await new Index().start({ key: readFileSync(key), cert: readFileSync(cert) });
  secure.publish(dep('1.0'));
  secure.publish(server('1.0.0', ['one']));
  world.write('{pypi: "srv==1.0.0"}');
  pipConf(world, `[global]\nindex-url = ${secure.url}\n`);
  refused(await world.install(), "the registry's certificate is not believed");
  pipConf(world, `[global]\nindex-url = ${secure.url}\ntrusted-host = 127.0.0.1\n`);
  refused(await world.install(), 'would let anybody answer for the index');
  pipConf(world, `[global]\nindex-url = ${secure.url}\ncert = ${cert}\n`);
  fine(await world.install());
  await secure.stop();
});

await test('the index of uv comes before that of pip', async (world, index) => {
  pipConf(world, '[global]\nindex-url = http://127.0.0.1:9/simple\n');
  world.write('{pypi: "srv==1.0.0"}');
  world.setting('.config/uv/uv.toml', `[[index]]\nname = "own"\nurl = "${index.url}"\ndefault = true\n`);
  fine(await world.install());
  world.setting('.config/uv/uv.toml', '');
  world.variables.UV_DEFAULT_INDEX = index.url;
  rmSync(world.data, { recursive: true });
  fine(await world.install());
});

for (const [what, make] of Object.entries({
  'a path out of the folder': { more: [{ name: '../../escaped.py', content: 'x' }] },
  'an absolute path': { more: [{ name: '/home/cordon/tree/absolute.py', content: 'x' }] },
  'a program out of the folder of programs': { more: [{ name: 'dep-1.5.data/scripts/../../../../escaped', content: 'x' }] },
  'a data file out of the folder': { more: [{ name: 'dep-1.5.data/data/../../../escaped', content: 'x' }] },
})) {
  await test(`a wheel with ${what} is refused`, async (world, index) => {
    index.publish({ ...dep('1.5'), ...make });
    world.write('{pypi: "srv==1.0.0"}');
    refused(await world.install());
    nothingKept(world);
  });
}

await test('a link in a wheel is none afterwards', async (world, index) => {
  index.publish({ ...dep('1.5', 'one = 1\n'), more: [{ name: 'dep_link', content: '/etc/passwd', mode: 0o120777 }] });
  world.write('{pypi: "srv==1.0.0"}');
  fine(await world.install());
  assert.equal(readFileSync(path.join(tree(world), 'dep_link'), 'utf8'), '/etc/passwd');
});

await test('programs, start files and compiled files of a wheel do not run', async (world, index) => {
  const evil = "import os; open('/tmp/ran', 'w').close()";
  index.publish({
    ...dep('1.5', "import os\nassert not os.path.exists('/tmp/ran')\n"),
    data: { 'scripts/python3': '#!python\nraise SystemExit("not this")\n' },
    more: [{ name: 'evil.pth', content: `${evil}\n` }, { name: 'sitecustomize.py', content: `${evil}\n` }, { name: 'usercustomize.py', content: `${evil}\n` },
      { name: '__pycache__/dep.cpython-311.pyc', content: 'not compiled' }],
  });
  world.write('{pypi: "srv==1.0.0"}');
  const installed = fine(await world.install());
  assert.match(installed.text, /the program python3 is no entry point of a package, and is left out/);
  fine(await world.review());
  assert.deepEqual(await world.tools(), ['one']);
  assert.ok(!existsSync(path.join(tree(world), 'bin')));
  assert.ok(!readFileSync(path.join(tree(world), 'dep-1.5.dist-info/RECORD'), 'utf8').includes('bin/'));
});

await test('nothing of the Python of the machine and of its settings is in play', async (world, index) => {
  index.publish(server('1.2.0', ['one'], `import os
assert sys.flags.isolated and sys.flags.no_site and sys.flags.no_user_site, sys.flags
assert not any(part.endswith(('site-packages', 'dist-packages')) for part in sys.path[:-1]), sys.path
assert sys.path[-1] == os.path.dirname(os.path.dirname(__file__)) and '' not in sys.path, sys.path
assert __spec__.cached and os.path.exists(__spec__.cached), __spec__
assert sys.argv == ['srv'], sys.argv
exit, quit
import subprocess
subprocess.run([sys.executable, '-c', 'import dep'], check=True)
try:
    open(__file__, 'a')
    raise SystemExit('the package can be written to')
except OSError:
    pass
`));
  world.write('{pypi: "srv==1.2.0"}', 'isolation: {filesystem: {runtime: [python]}}\n');
  world.variables.PYTHONSTARTUP = '/nowhere';
  fine(await world.review());
  assert.deepEqual(await world.tools(), ['one']);
});

await installing(test, {
  kind: 'pypi',
  spelled: (version) => `srv==${version}`,
  publish: (index, version, tools) => index.publish(server(version, tools)),
  held: 'dep-1.0-py3-none-any.whl',
  file: 'dep-1.0-py3-none-any.whl',
  grow: (index) => index.publish(dep('1.5', `one = '${'x'.repeat(1_000_000)}'\n`)),
});

await test('a program that the package does not have is named, with those that it has', async (world, index) => {
  index.publish(server('1.1.0', ['one'], '', { programs: { other: 'srv_mod.cli:main', third: 'srv_mod.cli:main' } }));
  world.write('{pypi: "srv==1.1.0"}');
  fine(await world.install());
  refused(await world.cordon('capture', '--policy', world.policy, '-o', '-'), "has no program 'srv'", 'it has: other, third');
});

finish();
