// SPDX-License-Identifier: Apache-2.0
// launch.source with images: init, install, review, run, update and rollback, against a registry of our own on loopback.
// node images.mjs --cordon FILE [--filter TEXT]
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { User, fine, options, root } from './world.mjs';

function skip(why) {
  console.log(`[skip] images: ${why}`);
  process.exit(77);
}

function found(name) {
  return ['/usr/bin', '/bin', '/usr/local/bin'].map((folder) => path.join(folder, name)).find(existsSync);
}

const podman = found('podman');
const registryProgram = found('docker-registry');
const busybox = found('busybox');
if (!podman) skip('podman is not installed');
if (!registryProgram) skip('docker-registry is not installed');
if (!busybox || !spawnSync('ldd', [busybox], { encoding: 'utf8' }).stderr.includes('not a dynamic')) skip('busybox-static is not installed');
if (process.getuid() !== 0) skip('it puts images into the engine of root');

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const port = await freePort();
const host = `127.0.0.1:${port}`;

class Registry {
  async start() {
    const config = path.join(root, 'registry.yml');
    writeFileSync(config, `version: 0.1
storage:
  filesystem: {rootdirectory: ${path.join(root, 'registry')}}
  delete: {enabled: true}
http: {addr: "${host}"}
log: {level: error}
`);
    this.child = spawn(registryProgram, ['serve', config], { stdio: 'ignore' });
    this.ended = new Promise((resolve) => this.child.once('close', resolve));
    for (;;) {
      if (this.child.exitCode !== null) throw new Error('the registry ended');
      if (await fetch(`http://${host}/v2/`).then((answer) => answer.ok, () => false)) return this;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop() {
    this.child?.kill();
    await this.ended;
    this.child = undefined;
  }

  async remove(name, digest) {
    const answer = await fetch(`http://${host}/v2/${name}/manifests/${digest}`, { method: 'DELETE' });
    assert.equal(answer.status, 202);
  }
}

const home = path.join(root, 'engine-home');
function engine(...words) {
  const result = spawnSync(podman, words, { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: home, CONTAINERS_CONF: '/dev/null' } });
  assert.equal(result.status, 0, `podman ${words.join(' ')}: ${result.stderr}`);
  return result.stdout.trim();
}

function trustPlainHttp(folder) {
  mkdirSync(path.join(folder, '.config/containers'), { recursive: true });
  writeFileSync(path.join(folder, '.config/containers/registries.conf'),
    `unqualified-search-registries = []\n[[registry]]\nlocation = "${host}"\ninsecure = true\n`);
}

// A server out of a static shell: one tool for each name, and `arguments` with what it was started with.
const server = (tools) => `
while IFS= read -r line; do
  id=$(echo "$line" | /bin/busybox sed -n 's/.*"id": *\\("[^"]*"\\|[0-9]*\\).*/\\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"srv","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[${tools.map((name) => `{"name":"${name}","description":"'"$*"' '"$MODE"' '"$(/bin/busybox pwd)"' '"$(/bin/busybox cat /data/note 2>/dev/null)"'","inputSchema":{"type":"object"}}`).join(',')}]}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"no"}}' ;;
  esac
done
`;

let images = 0;
// Pushes an image with these tools; gives its digest.
function push(reference, tools) {
  const folder = path.join(root, `image-${++images}`);
  mkdirSync(path.join(folder, 'bin'), { recursive: true });
  for (const place of ['tmp', 'home', 'etc', 'srv', 'data']) mkdirSync(path.join(folder, place));
  copyFileSync(busybox, path.join(folder, 'bin/busybox'));
  symlinkSync('busybox', path.join(folder, 'bin/sh'));
  writeFileSync(path.join(folder, 'server.sh'), server(tools));
  const tar = `${folder}.tar`;
  assert.equal(spawnSync('tar', ['--numeric-owner', '--owner=0', '--group=0', '-C', folder, '-cf', tar, '.']).status, 0);
  engine('import', '-q', '--change', 'ENTRYPOINT ["/bin/busybox","sh","/server.sh"]', '--change', 'WORKDIR /srv', tar, reference);
  engine('push', '-q', '--digestfile', `${folder}.digest`, reference);
  engine('rmi', '-f', reference);
  return readFileSync(`${folder}.digest`, 'utf8').trim();
}

// What the engine has of ours goes.
function forget() {
  const ids = JSON.parse(engine('images', '--format', 'json'))
    .filter((image) => [...(image.Names ?? []), ...(image.RepoDigests ?? []), ...(image.History ?? [])].some((name) => name.startsWith(host))).map((image) => image.Id);
  if (ids.length) engine('rmi', '-f', ...new Set(ids));
}

let worlds = 0;
class World extends User {
  constructor() {
    super(path.join(root, `world-${++worlds}`));
    trustPlainHttp(this.home);
    this.image = `${host}/world-${worlds}/srv`;
    this.name = `world-${worlds}/srv`;
  }

  get policy() { return path.join(this.home, '.config/mcp-cordon/policies/s.yaml'); }
  get lock() { return path.join(this.home, '.config/mcp-cordon/policies/s.lock.json'); }
  text() { return readFileSync(this.policy, 'utf8'); }
  allowUnattended() { writeFileSync(this.policy, `${this.text()}catalog: {accept_unattended: true}\n`); }

  review() { return this.cordon('review', 's', '--accept-all', '--reviewer', 't'); }
  update(...version) { return this.cordon('update', 's', ...version, '--accept-all', '--reviewer', 't'); }

  // The tools that a client is shown, or the message of the error.
  async tools(...command) {
    const { tools, error, text } = await this.shown('s', ...(command.length ? ['--', ...command] : []));
    return tools ?? `${error}\n${text}`;
  }

  async names(...command) {
    const tools = await this.tools(...command);
    return Array.isArray(tools) ? tools.map((tool) => tool.name) : tools;
  }
}

let passed = 0;
let failed = 0;
const registry = new Registry();
async function test(name, body) {
  if (!name.includes(options.filter)) return;
  if (!registry.child) await registry.start();
  try {
    await body(new World());
    ++passed;
    console.log(`ok   ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
  if (!registry.child) await registry.start();
  forget();
}

function says(text, ...parts) { for (const part of parts) assert.ok(String(text).includes(part), `'${part}' is not in: ${text}`); }
function refused(result, ...parts) { assert.notEqual(result.status, 0, result.text); says(result.text, ...parts); }

trustPlainHttp(home);
process.once('exit', () => registry.child?.kill());
await registry.start();
{
  const world = new World();
  push(`${world.image}:1`, ['one']);
  fine(await world.cordon('init', 's', '--', 'podman', 'run', '-i', '--rm', `${world.image}:1`));
  const tried = await world.cordon('capture', 's', '-o', '-');
  const { text } = await world.review();
  forget();
  if ((text.includes('unsupported_isolation') || tried.text.includes('unsupported_isolation')) && process.env.CORDON_REQUIRE_SANDBOX !== '1') {
    skip(text);
  }
}

await test('podman run becomes a source, pinned to what the tag is, and starts without a registry', async (world) => {
  const digest = push(`${world.image}:1`, ['one']);
  const data = path.join(world.folder, 'data');
  mkdirSync(data);
  writeFileSync(path.join(data, 'note'), 'hello');
  const command = ['podman', 'run', '-i', '--rm', '-e', 'MODE=fast', '-v', `${data}:/data:ro`, '-w', '/tmp', `${world.image}:1`, '--flag', 'x'];
  says(fine(await world.cordon('init', 's', '--', ...command)).text, 'is fetched once');
  says(world.text(), `source: {oci: "${world.image}:1"}`, 'command: ["srv", "--flag", "x"]', 'cwd: "/tmp"', 'set: {MODE: "fast"}',
    `read: [{path: "${data}", at: "/data"}]`, 'backend: podman');
  refused(await world.cordon('capture', 's', '-o', '-'), 'launch_failed', 'is not fetched', 'mcp-cordon install s');
  world.allowUnattended();
  says(fine(await world.review()).text, `${world.image}:1 is ${digest}`, 'now says');
  says(world.text(), `source: {oci: "${world.image}:1@${digest}"}`);
  assert.equal(JSON.parse(readFileSync(world.lock)).version, digest);
  await registry.stop();
  const tools = await world.tools();
  assert.ok(Array.isArray(tools), tools);
  assert.deepEqual(tools.map((tool) => [tool.name, tool.description]), [['one', '--flag x fast /tmp hello']]);
  says(fine(await world.cordon('install', 's')).text, 'is installed already');
  // What the client's config says has to be the policy's, in the image, the arguments and every option.
  assert.deepEqual(await world.names(...command), ['one']);
  assert.deepEqual(await world.names(...command.map((word) => (word === `${world.image}:1` ? world.image : word))), ['one']);
  says(await world.names(...command.map((word) => (word === `${world.image}:1` ? `${world.image}:2` : word))), 'launch_changed');
  says(await world.names(...command, 'more'), 'launch_changed');
  says(await world.names('podman', 'run', '-i', '--rm', '-v', '/srv:/srv', ...command.slice(4)), 'isolation_conflict', '-v /srv:/srv');
  says(await world.names('podman', 'run', '-i', '--rm', '-v', `${data}:/data`, `${world.image}:1`, '--flag', 'x'), 'isolation_conflict');
  says(await world.names('podman', 'run', '-i', '--rm', '--privileged', ...command.slice(4)), 'launch_changed');
});

await test('a tag that moves changes nothing until update, which is undone by rollback', async (world) => {
  const first = push(`${world.image}:1`, ['one']);
  fine(await world.cordon('init', 's', '--', 'podman', 'run', '-i', '--rm', `${world.image}:1`));
  world.allowUnattended();
  fine(await world.review());
  const second = push(`${world.image}:1`, ['one', 'two']);
  assert.notEqual(first, second);
  fine(await world.cordon('install', 's'));
  says(world.text(), first);
  assert.deepEqual(await world.names(), ['one']);
  says(fine(await world.update()).text, `:1@${second} counts now`);
  says(world.text(), `${world.image}:1@${second}`);
  assert.deepEqual(await world.names(), ['one', 'two']);
  says(fine(await world.update()).text, 'is the present one');
  await registry.stop();
  fine(await world.cordon('rollback', 's'));
  says(world.text(), `${world.image}:1@${first}`);
  assert.deepEqual(await world.names(), ['one']);
  refused(await world.update(), 'could not fetch the image');
  says(world.text(), first);
  assert.deepEqual(await world.names(), ['one']);
});

await test('update takes a tag or a digest', async (world) => {
  push(`${world.image}:1`, ['one']);
  const second = push(`${world.image}:2`, ['two']);
  const third = push(`${world.image}:3`, ['three']);
  fine(await world.cordon('init', 's', '--', 'podman', 'run', '-i', '--rm', `${world.image}:1`));
  world.allowUnattended();
  fine(await world.review());
  fine(await world.update('2'));
  says(world.text(), `${world.image}:2@${second}`);
  assert.deepEqual(await world.names(), ['two']);
  fine(await world.update(third));
  says(world.text(), `"${world.image}@${third}"`);
  assert.deepEqual(await world.names(), ['three']);
  refused(await world.update('x/y'), 'is no version');
  refused(await world.update('nothing'), 'has no such image');
  says(world.text(), `"${world.image}@${third}"`);
  fine(await world.cordon('rollback', 's'));
  assert.deepEqual(await world.names(), ['two']);
});

await test('an index of several platforms is pinned by its own digest', async (world) => {
  const one = push(`${world.image}:amd`, ['one']);
  const list = `localhost/cordon-list-${port}`;
  engine('manifest', 'create', list);
  const digestFile = path.join(world.folder, 'digest');
  try {
    engine('manifest', 'add', '--os', 'linux', '--arch', process.arch === 'x64' ? 'amd64' : 'arm64', list, `docker://${world.image}@${one}`);
    engine('manifest', 'push', '--digestfile', digestFile, list, `docker://${world.image}:all`);
  } finally {
    engine('manifest', 'rm', list);
  }
  const index = readFileSync(digestFile, 'utf8').trim();
  fine(await world.cordon('init', 's', '--', 'podman', 'run', '-i', '--rm', `${world.image}:all`));
  world.allowUnattended();
  fine(await world.review());
  says(world.text(), `${world.image}:all@${index}`);
  assert.deepEqual(await world.names(), ['one']);
});

await test('another machine fetches what was recorded, also where the version stays open', async (world) => {
  const first = push(`${world.image}:1`, ['one']);
  fine(await world.cordon('init', 's', '--', 'podman', 'run', '-i', '--rm', `${world.image}:1`));
  writeFileSync(world.policy, world.text().replace(':1"}', ':1", allow_unpinned: true}'));
  world.allowUnattended();
  fine(await world.review());
  says(world.text(), `:1", allow_unpinned`);
  const second = push(`${world.image}:1`, ['two']);
  forget();
  says(await world.names(), 'launch_failed', 'mcp-cordon install s');
  fine(await world.cordon('install', 's'));
  assert.equal(JSON.parse(readFileSync(world.lock)).version, first);
  assert.deepEqual(await world.names(), ['one']);
  fine(await world.update());
  says(world.text(), `:1", allow_unpinned`);
  assert.equal(JSON.parse(readFileSync(world.lock)).version, second);
  assert.deepEqual(await world.names(), ['two']);
});

await test('a wrong digest, an image that vanished, a registry that is down, or not trusted', async (world) => {
  const digest = push(`${world.image}:1`, ['one']);
  fine(await world.cordon('init', 's', '--', 'podman', 'run', '-i', '--rm', `${world.image}@${digest}`));
  const before = world.text();
  says(before, `source: {oci: "${world.image}@${digest}"}`);
  writeFileSync(world.policy, before.replaceAll(digest, `sha256:${'0'.repeat(64)}`));
  refused(await world.cordon('install', 's'), 'launch_failed', 'could not fetch the image', 'has no such image');
  assert.ok(!existsSync(world.lock));
  writeFileSync(world.policy, before);
  world.allowUnattended();
  fine(await world.review());
  const record = readFileSync(world.lock, 'utf8');
  await registry.remove(world.name, digest);
  assert.deepEqual(await world.names(), ['one']);
  forget();
  says(await world.names(), 'launch_failed', 'does not have this image', 'mcp-cordon install s');
  refused(await world.cordon('install', 's'), 'has no such image');
  await registry.stop();
  refused(await world.cordon('install', 's'), 'could not fetch the image', 'connection refused');
  await registry.start();
  writeFileSync(path.join(world.home, '.config/containers/registries.conf'), '');
  refused(await world.cordon('install', 's'), 'registries.conf');
  assert.equal(readFileSync(world.lock, 'utf8'), record);
  says(await world.names(), 'launch_failed');
});

await test('options that no policy says are refused with the reason', async (world) => {
  for (const [words, ...parts] of [
    [['--privileged'], '--privileged would give the container rights'], [['-p', '80:80'], '-p would open a port'],
    [['--network', 'host'], 'network of the machine'], [['--network', 'mine'], 'isolation.network'],
    [['--user', '0'], '--user 0 is not translated'], [['--env-file', 'x'], '--env-file would bring in'],
    [['-v', 'named:/data'], 'is a volume or a relative path'], [['-e', 'PATH=/x'], '-e PATH'],
    [['--platform', 'plan9/mips'], '--platform plan9/mips'], [['--new-flag'], 'unknown flag --new-flag'],
    [['-v', '/var/run/docker.sock:/s'], 'socket of a container engine']]) {
    const command = ['docker', 'run', '-i', '--rm', ...words, `${world.image}:1`];
    const made = fine(await world.cordon('init', 's', '--', ...command));
    says(made.text, 'will not be started as it is', ...parts);
    assert.ok(!world.text().includes('source:'), world.text());
    refused(await world.cordon('capture', 's', '-o', '-'), 'policy_invalid');
    rmSync(world.policy);
  }
});

await test('limits, an entry point, a writable folder and secrets are taken over', async (world) => {
  const data = path.join(world.folder, 'data');
  mkdirSync(data);
  const made = fine(await world.cordon('init', 's', '--', 'docker', 'run', '-i', '--rm', '-m', '512m', '--pids-limit=64', '--entrypoint', '/bin/sh',
    '--mount', `type=bind,src=${data},dst=/data`, '-e', 'API_TOKEN', '-e', 'OTHER_TOKEN=abc', '--pull=always', '--name', 'x', `${world.image}`, '/server.sh'));
  says(made.text, 'OTHER_TOKEN stands in clear');
  assert.ok(!made.text.includes('abc'));
  says(world.text(), `source: {oci: "${world.image}", bin: "/bin/sh"}`, 'command: ["/bin/sh", "/server.sh"]', `write: [{path: "${data}", at: "/data"}]`,
    'API_TOKEN: {from_env: API_TOKEN}', 'set: {OTHER_TOKEN: "abc"}', 'limits: {memory: 536870912, processes: 64}', 'backend: docker');
  fine(await world.cordon('check', '--syntax-only', world.policy));
});

const docker = found('docker');
if (!docker) console.log('[skip] images: docker is not installed, so its client was not tried');
else await test('docker fetches and pins, too', async (world) => {
  // Its client talks to any engine that has docker's interface; here that is podman's.
  const digest = push(`${world.image}:1`, ['one']);
  const socket = path.join(world.folder, 'engine.sock');
  const client = (...words) => assert.equal(spawnSync(docker, words, { env: { PATH: '/usr/bin:/bin', HOME: world.home } }).status, 0);
  const service = spawn(podman, ['system', 'service', '--time=0', `unix://${socket}`], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: home, CONTAINERS_CONF: '/dev/null' }, stdio: 'ignore' });
  const ended = new Promise((resolve) => service.once('close', resolve));
  try {
    client('context', 'create', 'cordon', '--docker', `host=unix://${socket}`);
    client('context', 'use', 'cordon');
    while (!existsSync(socket)) await new Promise((resolve) => setTimeout(resolve, 20));
    fine(await world.cordon('init', 's', '--', 'docker', 'run', '-i', '--rm', `${world.image}:1`));
    says(fine(await world.cordon('install', 's')).text, 'with docker', `is ${digest}`);
    says(world.text(), `source: {oci: "${world.image}:1@${digest}"}`, 'backend: docker');
    says(fine(await world.cordon('install', 's')).text, 'is installed already');
    forget();
    says(fine(await world.cordon('install', 's')).text, 'fetching', 'installed oci');
    forget();
  } finally {
    service.kill();
    await ended;
  }
  refused(await world.cordon('install', 's'), 'start the docker daemon');
});

await test('wrap writes the same policy, and the config goes on saying what it said', async (world) => {
  push(`${world.image}:1`, ['one']);
  const config = path.join(world.home, '.cursor/mcp.json');
  mkdirSync(path.dirname(config));
  const entry = { command: 'podman', args: ['run', '-i', '--rm', '-e', 'MODE', `${world.image}:1`], env: { MODE: 'slow' } };
  writeFileSync(config, JSON.stringify({ mcpServers: { s: entry } }, null, 2));
  fine(await world.cordon('wrap', '--all', '--yes'));
  const now = JSON.parse(readFileSync(config)).mcpServers.s;
  assert.deepEqual(now.args.slice(-7), ['podman', ...entry.args]);
  says(world.text(), `source: {oci: "${world.image}:1"}`, 'pass: [MODE]');
  world.allowUnattended();
  fine(await world.review());
  assert.deepEqual(await world.names('podman', ...entry.args), ['one']);
  says(fine(await world.cordon('wrap', '--all', '--yes')).text, '');
});

await registry.stop();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
