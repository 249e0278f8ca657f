// SPDX-License-Identifier: Apache-2.0
// How long servers of npm packages take from their start to the answer to `initialize`, four ways in turn:
//   node ENTRY, by hand | mcp-cordon run with that command | mcp-cordon run with launch.source | npx -y, offline
// and what the two of mcp-cordon take more than `node ENTRY` in the same round.
// ./dev bench --only packages, or node packages.mjs --cordon FILE [--other FILE] [--rounds N] [--cold N]; needs npm and
// its registry once, to install. --other: another mcp-cordon, measured beside the first with launch.source.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { cordon: { type: 'string' }, other: { type: 'string' }, rounds: { type: 'string', default: '21' }, cold: { type: 'string', default: '7' } } });
for (const name of ['cordon', 'other']) if (values[name]) values[name] = realpathSync(values[name]);
const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cordon-bench-')));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));
const home = path.join(root, 'home');
const otherHome = path.join(root, 'other-home');  // two versions may remember the files in different ways
const data = path.join(root, 'data');
mkdirSync(data, { recursive: true });
for (const folder of [home, otherHome]) mkdirSync(folder);
const env = { PATH: process.env.PATH, HOME: home };
for (const name of ['npm_config_registry', 'NODE_EXTRA_CA_CERTS']) if (process.env[name]) env[name] = process.env[name];
const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
for (const folder of [home, otherHome]) writeFileSync(path.join(folder, '.npmrc'), `registry=${registry}\nupdate-notifier=false\n`);

function run(program, ...words) { return runWith({}, program, ...words); }
function runWith(more, program, ...words) {
  const result = spawnSync(program, words, { encoding: 'utf8', env: { ...env, ...more }, cwd: root });
  assert.equal(result.status, 0, `${program} ${words.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

// What is read of these files next comes from the disk; names and inodes stay known.
function forget(list) {
  const script = 'import os,sys\nfor f in sys.stdin.read().split("\\0"):\n try: fd=os.open(f,os.O_RDONLY)\n except OSError: continue\n os.posix_fadvise(fd,0,0,os.POSIX_FADV_DONTNEED)\n os.close(fd)';
  assert.equal(spawnSync('python3', ['-c', script], { input: list.join('\0'), maxBuffer: 1 << 26 }).status, 0);
}

const request = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } } })}\n`;
function once(words, more = {}) {
  return new Promise((resolve, reject) => {
    const begin = process.hrtime.bigint();
    const child = spawn(words[0], words.slice(1), { env: { ...env, ...more }, cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });
    let out = '';
    let errors = '';
    let took;
    child.stdin.on('error', () => {});
    child.stdin.write(request);
    child.stderr.on('data', (text) => { errors += text; });
    child.stdout.on('data', (text) => {
      out += text;
      if (took === undefined && out.includes('\n')) {
        took = Number(process.hrtime.bigint() - begin) / 1e6;
        if (!out.includes('"result"')) reject(new Error(out));
        child.stdin.end();
        child.kill();
      }
    });
    child.once('close', () => (took === undefined ? reject(new Error(`${words.join(' ')}: ${errors}`)) : resolve(took)));
  });
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const least = (list) => Math.min(...list);

async function measure(ways, rounds, before) {
  const times = ways.map(() => []);
  for (let round = 0; round < rounds; ++round) {
    for (let i = 0; i < ways.length; ++i) {
      const at = (i + round) % ways.length;  // none always follows the same
      before?.();
      times[at].push(await once(...ways[at].slice(1)));
    }
  }
  return times;
}

const names = ['node', 'command', 'source', 'npx', ...(values.other ? ['other source'] : [])];
const pairs = names.map((name, i) => i).filter((i) => !['node', 'npx'].includes(names[i]));
const added = (times, i) => median(times[i].map((time, round) => time - times[0][round]));
const columns = (list) => list.map((text) => text.padStart(16)).join('');
console.log(`${'server'.padEnd(12)} ${'files'.padStart(6)}  ${'cache'.padEnd(5)} ${columns([...names, ...pairs.map((i) => `+${names[i]}`)])}   median (least), + median of what it takes more than node; ms`);
for (const [name, bin, ...args] of [['everything', 'mcp-server-everything'], ['memory', 'mcp-server-memory'], ['filesystem', 'mcp-server-filesystem', data]]) {
  const spec = `@modelcontextprotocol/server-${name}@2026.8.31`;
  const plain = path.join(root, name);
  mkdirSync(plain);
  run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', plain, spec);
  const folder = path.join(plain, 'node_modules/@modelcontextprotocol', `server-${name}`);
  const bins = JSON.parse(readFileSync(path.join(folder, 'package.json'))).bin;
  const entry = path.join(folder, Object.values(bins)[0]);
  run('npm', 'exec', '-y', '--package', spec, '--', 'true');
  const policy = (kind, launch, read, cordon = values.cordon, more = {}) => {
    const file = path.join(root, `${name}-${kind}.yaml`);
    writeFileSync(file, `version: 1\nserver: ${name}-${kind}\nlaunch:\n  ${launch}\ncatalog: {accept_unattended: true}\nisolation:\n  filesystem: {runtime: [node], read: ${JSON.stringify(read)}, write: [${JSON.stringify(data)}]}\n`);
    runWith(more, cordon, 'review', '--policy', file, '--accept-all', '--reviewer', 'bench');
    return file;
  };
  const command = policy('command', `command: ${JSON.stringify(['node', entry, ...args])}`, [plain]);
  const packaged = `source: {npm: "${spec}"}\n  command: ${JSON.stringify([bin, ...args])}`;
  const source = policy('source', packaged, []);
  const ways = [['node', ['node', entry, ...args]], ['command', [values.cordon, 'run', '--policy', command]], ['source', [values.cordon, 'run', '--policy', source]],
    ['npx', ['npx', '--offline', '-y', spec, ...args]]];
  if (values.other) ways.push(['other source', [values.other, 'run', '--policy', policy('other', packaged, [], values.other, { HOME: otherHome })], { HOME: otherHome }]);
  const all = [...files(plain), ...files(path.join(home, '.local/share/mcp-cordon/packages')), ...files(path.join(home, '.npm')),
    ...(values.other ? files(path.join(otherHome, '.local/share/mcp-cordon/packages')) : [])];
  const line = (label, times) => console.log(`${name.padEnd(12)} ${String(files(plain).length).padStart(6)}  ${label.padEnd(5)} ${columns([
    ...times.map((list) => `${median(list).toFixed(0)} (${least(list).toFixed(0)})`), ...pairs.map((i) => added(times, i).toFixed(1))])}`);
  await measure(ways, 2);
  line('warm', await measure(ways, Number(values.rounds)));
  if (Number(values.cold) > 0) line('cold', await measure(ways, Number(values.cold), () => forget(all)));
}
