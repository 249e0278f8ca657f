// SPDX-License-Identifier: Apache-2.0
// The server's own allow-list is no boundary; the policy's grants are.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { withSession } from '../lib/clients.mjs';
import { assert, test } from '../lib/runner.mjs';
import { testPolicy } from './servers.mjs';
import { SCENARIOS } from '../lib/scenarios.mjs';

const allowAll = { rules: [{ tools: ['*'], action: 'allow' }] };

const textOf = (outcome) => JSON.stringify(outcome.result?.content ?? outcome.error);

function filesystemPolicy(context, name, args, grants) {
  const policy = context.policy(name, {
    server: 'filesystem',
    command: [context.node, context.entry('filesystem'), ...args],
    ...grants,
    catalog: { drift: { launch: 'flag' } },
    tools: allowAll,
  });
  context.useShippedSnapshot(policy, 'filesystem');
  return policy;
}

export async function boundary(context) {
  await test('filesystem server that is told it may read everything: only grants are readable', async () => {
    const granted = context.folder('granted');
    const secret = context.folder('secret');
    writeFileSync(path.join(granted, 'open.txt'), 'open');
    writeFileSync(path.join(secret, 'key.txt'), 'top secret');
    const command = [context.node, context.entry('filesystem'), '/'];
    const readAll = async (session) => ({
      open: await session.tryCall('read_text_file', { path: path.join(granted, 'open.txt') }),
      secret: await session.tryCall('read_text_file', { path: path.join(secret, 'key.txt') }),
      own: await session.tryCall('read_text_file', { path: context.policyPath('boundary-read') }),
      listed: await session.tryCall('list_directory', { path: context.work }),
    });
    const policy = filesystemPolicy(context, 'boundary-read', ['/'], { read: [granted] });
    const direct = await withSession(context.direct(command), 'v1', { capabilities: {} }, readAll);
    assert.match(textOf(direct.secret), /top secret/, 'without the proxy the server reads it');
    assert.match(textOf(direct.own), /isolation/);

    await withSession(context.through(policy), 'v1', { capabilities: {} }, async (session) => {
      const seen = await readAll(session);
      assert.match(textOf(seen.open), /open/);
      assert.ok(!textOf(seen.secret).includes('top secret'));
      assert.equal(seen.secret.result.isError, true);
      assert.match(textOf(seen.secret), /ENOENT|no such file|EACCES|does not exist/i);
      assert.equal(seen.own.result.isError, true, 'its own policy is out of reach');
      assert.ok(!textOf(seen.listed).includes('secret'), textOf(seen.listed));
    });
  });

  await test('a folder granted for reading cannot be written, one granted for writing can', async () => {
    const read = context.folder('only-read');
    const write = context.folder('may-write');
    const policy = filesystemPolicy(context, 'boundary-write', [read, write], { read: [read], write: [write] });
    await withSession(context.through(policy), 'v1', { capabilities: {} }, async (session) => {
      const refused = await session.tryCall('write_file', { path: path.join(read, 'x'), content: 'x' });
      assert.equal(refused.result.isError, true);
      assert.match(textOf(refused), /EROFS|read-only|EACCES/i);
      assert.ok(!existsSync(path.join(read, 'x')));
      const done = await session.tryCall('write_file', { path: path.join(write, 'x'), content: 'written' });
      assert.ok(!done.result.isError, textOf(done));
      assert.equal(readFileSync(path.join(write, 'x'), 'utf8'), 'written');
    });
  });

  await test('roots of the client never widen what the filesystem server may read', async () => {
    const inside = context.folder('inside');
    const outside = context.folder('outside');
    const roots = [{ uri: `file://${outside}`, name: 'outside' }];
    const command = [context.node, context.entry('filesystem'), inside];
    // Without the proxy the roots replace the folders of the command line, once the server has asked for them.
    await withSession(context.direct(command), 'v1', { roots }, async (session) => {
      await session.until(() => session.asked.includes('roots/list'), 'roots/list');
      let allowed = '';
      for (let i = 0; i < 50 && !allowed.includes(outside); i += 1) {
        allowed = textOf(await session.tryCall('list_allowed_directories'));
      }
      assert.match(allowed, /outside/);
    });
    const policy = filesystemPolicy(context, 'boundary-roots', [inside], { read: [inside] });
    await withSession(context.through(policy), 'v1', { roots }, async (session) => {
      const allowed = textOf(await session.tryCall('list_allowed_directories'));
      assert.match(allowed, /inside/);
      assert.ok(!allowed.includes(outside));
      assert.deepEqual(session.asked, []);
    });
  });

  await test('the environment of the client does not reach the server', async () => {
    const policy = context.policy('boundary-environment', {
      server: 'everything',
      command: [context.node, context.entry('everything')],
      environment: { FOR_THE_SERVER: 'yes' },
      catalog: { drift: { launch: 'flag' } },
      tools: allowAll,
    });
    context.useShippedSnapshot(policy, 'everything');
    const target = context.through(policy, { environment: { CANARY_TOKEN: 'canary-4711' } });
    await withSession(target, 'v1', {}, async (session) => {
      const environment = JSON.parse((await session.call('get-env')).content[0].text);
      assert.equal(environment.FOR_THE_SERVER, 'yes');
      assert.equal(environment.HOME, '/home/cordon');
      assert.ok(!JSON.stringify(environment).includes('canary'));
      const known = ['FOR_THE_SERVER', 'HOME', 'PATH', 'TMPDIR', 'PWD'];
      assert.deepEqual(Object.keys(environment).filter((name) => !known.includes(name)), []);
    });
  });

  await test('the memory server keeps its graph in its private HOME from one session to the next', async () => {
    const scenario = SCENARIOS.find((candidate) => candidate.name === 'memory');
    const policy = testPolicy(context, scenario, '');
    await withSession(context.through(policy), 'v1', {}, (session) =>
      session.call('create_entities', {
        entities: [{ name: 'Kept', entityType: 'test', observations: ['over the night'] }],
      }),
    );
    await withSession(context.through(policy), 'v1', {}, async (session) => {
      const graph = textOf(await session.tryCall('read_graph'));
      assert.match(graph, /over the night/);
    });
  });

  await test('a server that cannot be isolated as demanded is not started, and the client is told', async () => {
    const folder = context.folder('gone');
    mkdirSync(path.join(folder, 'data'));
    const policy = filesystemPolicy(context, 'boundary-missing', ['/data'], { read: [path.join(folder, 'absent')] });
    await assert.rejects(
      withSession(context.through(policy), 'v1', {}, async () => {}),
      /policy_invalid/,
    );
  });
}
