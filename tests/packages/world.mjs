// SPDX-License-Identifier: Apache-2.0
// What the tests of packages share: a user with a home, settings, a policy and a store of its own, and the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

export const { values: options } = parseArgs({ options: { cordon: { type: 'string' }, 'die-at-step': { type: 'string' }, 'hold-check': { type: 'string' }, filter: { type: 'string', default: '' } } });

export const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cordon-packages-')));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));
let passed = 0;
let failed = 0;
let worlds = 0;

// A user with a home, who starts the program.
export class User {
  constructor(folder) {
    this.folder = folder;
    this.home = path.join(folder, 'home');
    mkdirSync(this.home, { recursive: true });
    this.variables = {};
  }

  // A file of the user's settings.
  setting(name, text) {
    mkdirSync(path.dirname(path.join(this.home, name)), { recursive: true });
    writeFileSync(path.join(this.home, name), text, { mode: 0o600 });
  }

  get env() { return { PATH: process.env.PATH, HOME: this.home, ...this.variables }; }

  start(...words) { return this.program(options.cordon, words); }

  program(name, words) {
    const child = spawn(name, words, { env: this.env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.text = '';
    child.stderr.on('data', (data) => { child.text += data; });
    child.done = new Promise((resolve) => child.once('close', (status, signal) => resolve({ status, signal, text: child.text })));
    return child;
  }

  async cordon(...words) {
    const child = this.start(...words);
    child.stdin.end();
    child.stdout.on('data', (data) => { child.text += data; });
    return child.done;
  }

  // What a client is shown of `run WORDS…`: {tools} or {error}, its message; and {text}, what stood on stderr.
  async shown(...words) {
    const child = this.last = this.start('run', ...words);
    const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
    child.stdin.on('error', () => {});
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } } });
    let out = '';
    const answer = await new Promise((resolve) => {
      child.stdout.on('data', (data) => {
        out += data;
        for (let end; (end = out.indexOf('\n')) >= 0; out = out.slice(end + 1)) {
          const message = JSON.parse(out.slice(0, end));
          if (message.error) resolve({ error: message.error.message });
          else if (message.id === 1) {
            send({ method: 'notifications/initialized' });
            send({ id: 2, method: 'tools/list' });
          } else if (message.id === 2) resolve({ tools: message.result.tools });
        }
      });
      child.once('close', () => resolve({ error: `ended: ${child.text}` }));
    });
    child.stdin.end();
    return { ...answer, text: (await child.done).text };
  }
}

// One whose package comes from a registry of the test.
export class World extends User {
  // `kind`: of its packages, "npm" or "pypi".
  constructor(kind, registry) {
    super(path.join(root, String(++worlds)));
    this.kind = kind;
    this.registry = registry;
    this.policy = path.join(this.folder, 's.yaml');
    this.data = path.join(this.home, '.local/share');
  }

  write(source, more = '') {
    writeFileSync(this.policy, `version: 1\nserver: s\nlaunch:\n  source: ${source}\n  command: [srv]\ncatalog: {accept_unattended: true}\n${more}`);
  }

  install() { return this.cordon('install', '--policy', this.policy); }
  review() { return this.cordon('review', '--policy', this.policy, '--accept-all', '--reviewer', 't'); }

  // The names of the tools that a client is shown, or the message of the error.
  async tools(...command) {
    const { error, tools } = await this.shown('--policy', this.policy, ...(command.length ? ['--', ...command] : []));
    return error ?? tools.map((tool) => tool.name);
  }

  get store() { return path.join(this.data, 'mcp-cordon/packages', this.kind); }
  stored() { return existsSync(this.store) ? readdirSync(this.store).sort() : []; }
}

// `prepare` gives a world, which is left when the body ends.
export async function run(name, prepare, body) {
  if (!name.includes(options.filter)) return;
  const world = await prepare();
  try {
    await body(world, world.registry);
    ++passed;
    console.log(`ok   ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAIL ${name}\n${error.stack}`);
  } finally {
    await world.registry.stop();
  }
}

export function fine(result) { assert.equal(result.status, 0, result.text); return result; }
export function refused(result, ...texts) {
  assert.notEqual(result.status, 0, result.text);
  for (const text of texts) assert.ok(result.text.includes(text), `'${text}' is not in: ${result.text}`);
}

// Without a sandbox nothing can be installed: then there is nothing to test.
export async function needsSandbox(prepare, source) {
  const world = await prepare();
  world.write(source);
  const { text } = await world.install();
  await world.registry.stop();
  if (text.includes('unsupported_isolation') && process.env.CORDON_REQUIRE_SANDBOX !== '1') {
    console.log(`[skip] packages: ${text}`);
    process.exit(77);
  }
}

export function finish() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed || !passed ? 1 : 0);
}
