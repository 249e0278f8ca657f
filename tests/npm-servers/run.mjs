// SPDX-License-Identifier: Apache-2.0
// From the documented `npx -y` line of each server in servers.mjs to a policy (init), installed and reviewed (review)
// and running under `native` (run NAME -- npx -y …, as wrap writes it into a client's config).
// Asks the npm registry, so it is no part of the suite.
// node run.mjs --cordon FILE [--only TEXT] [--work DIR] [--keep] [--table FILE]
// First everything is installed and reviewed; then the registry goes away and everything is run.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { servers } from './servers.mjs';

const { values: options } = parseArgs({
  options: {
    cordon: { type: 'string' },
    only: { type: 'string', default: '' },
    work: { type: 'string' },
    cache: { type: 'string' },
    table: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const here = path.dirname(fileURLToPath(import.meta.url));
const work = options.work ?? mkdtempSync(path.join(os.tmpdir(), 'npm-servers-'));
const home = path.join(work, 'home');
mkdirSync(home, { recursive: true });

const nameOf = (entry) => entry.package.replace(/^@/, '').replace(/[^A-Za-z0-9._-]/g, '-');

function startMirror() {
  const args = [path.join(here, 'mirror.mjs'), '--cache', options.cache ?? path.join(work, 'registry')];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve) => child.stdout.once('data', (data) => resolve({ child, port: Number(data) })));
}

// The documented command line, and what a person fills in: folders, and files that the server wants to read.
function commandOf(entry) {
  const data = path.join(work, 'data', nameOf(entry));
  mkdirSync(data, { recursive: true });
  const set = { ...entry.set };
  if (entry.kubeconfig) {
    set.KUBECONFIG = path.join(data, 'config');
    const cluster = { cluster: { server: 'https://127.0.0.1:6443' }, name: 'c' };
    const context = { context: { cluster: 'c', user: 'u' }, name: 'c' };
    const config = { apiVersion: 'v1', kind: 'Config', clusters: [cluster], contexts: [context], 'current-context': 'c', users: [{ name: 'u', user: {} }] };
    writeFileSync(set.KUBECONFIG, JSON.stringify(config));
  }
  if (entry.credentials) {
    set[entry.credentials] = path.join(data, 'credentials.json');
    const installed = { client_id: 'x', client_secret: 'y', redirect_uris: ['http://localhost:3000/oauth2callback'] };
    writeFileSync(set[entry.credentials], JSON.stringify({ installed }));
  }
  const args = (entry.args ?? []).map((word) => word.replace('{data}', data));
  const uses = args.some((word) => word.includes(data)) || Object.values(set).some((word) => word.includes(data));
  return { command: ['npx', '-y', entry.package, ...args], variables: { ...entry.secrets, ...set }, folder: uses ? data : '' };
}

// init writes the policy; what is added is the folder, and that nobody looks at the catalogs here.
function writePolicy(entry, { command, variables, folder }) {
  const name = nameOf(entry);
  const file = path.join(work, 'config', 'mcp-cordon', 'policies', `${name}.yaml`);
  rmSync(file, { force: true });
  const names = Object.keys(variables).flatMap((key) => ['--env', key]);
  const done = spawnSync(options.cordon, ['init', name, ...names, '--', ...command], { env: environment(), encoding: 'utf8' });
  if (done.status !== 0) return { name, file, ok: false, why: lastLine(done.stderr) };
  let text = readFileSync(file, 'utf8');
  if (folder) text = text.replace(/^ {4}read: .*$/m, '    read: []').replace(/^ {4}write: .*$/m, `    write: [${JSON.stringify(folder)}]`);
  if (entry.runtime) text = text.replace(/runtime: \[.*\]/, `runtime: [${entry.runtime}]`);
  writeFileSync(file, `${text}catalog: {accept_unattended: true}\n`);
  return { name, file, ok: true };
}

const environment = (variables = {}) => ({
  PATH: process.env.PATH,
  HOME: home,
  XDG_STATE_HOME: path.join(work, 'state'),
  XDG_DATA_HOME: path.join(work, 'share'),
  XDG_CONFIG_HOME: path.join(work, 'config'),
  ...variables,
});

const lastLine = (text) => {
  const own = text.split('\n').filter((line) => line.startsWith('mcp-cordon: ') && !line.includes('would run scripts'));
  return (own.at(-1) ?? text.trim().split('\n').at(-1) ?? '').slice(0, 300);
};

function review(name, variables) {
  const began = Date.now();
  const done = spawnSync(options.cordon, ['review', name, '--accept-all', '--reviewer', 'test'], {
    env: environment(variables),
    encoding: 'utf8',
    timeout: 600_000,
    maxBuffer: 64 << 20,
  });
  return { ok: done.status === 0, seconds: (Date.now() - began) / 1000, stderr: done.stderr ?? '', why: lastLine(done.stderr ?? '') };
}

// The handshake and the list of tools.
function run(name, { command, variables }) {
  return new Promise((resolve) => {
    const began = performance.now();
    const child = spawn(options.cordon, ['run', name, '--', ...command], { env: environment(variables), stdio: 'pipe' });
    let out = '';
    let err = '';
    let started = 0;
    const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    const finish = (result) => {
      clearTimeout(timer);
      child.stdin.end();
      child.once('close', () => resolve({ ...result, started, why: result.why ?? lastLine(err) }));
    };
    const timer = setTimeout(() => { child.kill(); finish({ ok: false, why: 'no answer in 60 s' }); }, 60_000);
    child.stderr.on('data', (data) => { err += data; });
    child.stdin.on('error', () => {});
    child.stdout.on('data', (data) => {
      out += data;
      for (let end; (end = out.indexOf('\n')) >= 0; out = out.slice(end + 1)) {
        const message = JSON.parse(out.slice(0, end));
        if (message.method || message.id === undefined) continue;
        if (message.error) return finish({ ok: false, why: message.error.message.slice(0, 300) });
        if (message.id === 1) {
          started = Math.round(performance.now() - began);
          send({ method: 'notifications/initialized' });
          send({ id: 2, method: 'tools/list' });
        } else if (message.id === 2) {
          return finish({ ok: message.result.tools.length > 0, tools: message.result.tools.length });
        }
      }
    });
    child.once('error', (error) => resolve({ ok: false, started, why: String(error) }));
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } } });
  });
}

const chosen = servers.filter((entry) => entry.package.includes(options.only));
const results = [];
const { child: mirror, port } = await startMirror();
writeFileSync(path.join(home, '.npmrc'), `registry=http://127.0.0.1:${port}/\n`);
for (const entry of chosen) {
  const launch = commandOf(entry);
  const policy = writePolicy(entry, launch);
  const reviewed = policy.ok ? review(policy.name, launch.variables) : { ...policy, seconds: 0, stderr: '' };
  const version = policy.ok ? /source: \{npm: "(.*)"\}/.exec(readFileSync(policy.file, 'utf8'))?.[1] : entry.package;
  results.push({ entry, launch, name: policy.name, reviewed, version });
  console.error(`${reviewed.ok ? 'reviewed' : 'FAILED  '} ${version} ${reviewed.seconds.toFixed(1)} s ${reviewed.ok ? '' : reviewed.why}`);
  if (!reviewed.ok && options.keep) writeFileSync(`${policy.file}.log`, reviewed.stderr);
}
mirror.kill();
for (const result of results.filter((one) => one.reviewed.ok)) {
  result.ran = await run(result.name, result.launch);
  console.error(`${result.ran.ok ? 'runs    ' : 'FAILED  '} ${result.version} ${result.ran.tools ?? ''} ${result.ran.ok ? '' : result.ran.why}`);
}

const rows = results.map(({ entry, reviewed, version, ran }) => {
  const state = ran?.ok ? 'runs' : reviewed.ok ? 'reviewed' : 'no';
  const why = ran?.ok ? '' : (entry.needs ? `needs ${entry.needs}` : (ran ?? reviewed).why).replaceAll('|', '/').replaceAll(work, '');
  return `| \`${version}\` | ${state} | ${ran?.tools ?? ''} | ${why} |`;
});
const good = results.filter((one) => one.ran?.ok).length;
const table = ['| package | | tools | why not |', '|---|---|--:|---|', ...rows, ''].join('\n');
console.log(table);
if (options.table) writeFileSync(options.table, table);
console.log(`${good} passed, ${results.length - good} failed`);
if (!options.keep && !options.work) rmSync(work, { recursive: true, force: true });
process.exit(good >= Math.min(40, chosen.length) ? 0 : 1);
