// SPDX-License-Identifier: Apache-2.0
// A server of both eras, in each mode of both clients.
import path from 'node:path';
import { MODERN, withSession } from '../lib/clients.mjs';
import { assertCalls, assertMethodRefused, assertTools, assertUnknownTool } from '../lib/results.mjs';
import { assert, test } from '../lib/runner.mjs';
import {
  callAll,
  recordBasics,
  recordCancellation,
  recordItems,
  recordOtherMethods,
  recordProgress,
} from '../lib/scenarios.mjs';

export const modernCommand = (context) => [context.node, path.join(context.servers, 'modern.mjs')];

// `--accept-all` sets no class, so every tool is allowed by a rule.
export function modernPolicy(context, name, folder, parts = {}) {
  const policy = context.policy(name, {
    server: 'modern',
    command: modernCommand(context),
    cwd: folder,
    read: [folder],
    catalog: { accept_unattended: true, ...(parts.catalog ?? {}) },
    tools: { rules: [{ tools: ['*'], action: 'allow' }] },
    ...(parts.client_requests ? { client_requests: parts.client_requests } : {}),
  });
  context.review(policy);
  return policy;
}

async function record(session) {
  const seen = {
    era: session.era,
    basics: await recordBasics(session),
    calls: await callAll(session, [
      ['add', 'add', { a: 1e300, b: -0.5 }],
      ['structured', 'structured', { city: 'Z\u00fcrich' }],
      ['fail', 'fail'],
      ['ask', 'ask'],
      ['wrong arguments', 'add', { a: 'one', b: 2 }],
      ['unknown tool', 'no-such-tool'],
    ]),
    progress: await recordProgress(session, 'slow', { steps: 3, ms: 250 }),
    cancellation: await recordCancellation(session, 'slow', { steps: 400, ms: 50 }),
    after: await session.tryCall('add', { a: 1, b: 1 }),
  };
  if (session.era === MODERN) {
    // In this era a log message comes only for a request that asks for it.
    const logged = session.logs.length;
    await session.client.callTool({
      name: 'say',
      arguments: {},
      _meta: { 'io.modelcontextprotocol/logLevel': 'debug' },
    });
    await session.until(() => session.logs.length > logged, 'a log message');
    seen.log = session.logs.at(-1);
  } else {
    await session.client.ping();
    await session.client.setLoggingLevel('info');
    await session.call('say');
    await session.until(() => session.logs.length > 0, 'a log message');
    seen.log = session.logs.at(-1);
  }
  seen.items = await recordItems(session);
  seen.others = await recordOtherMethods(session);
  seen.asked = [...session.asked];
  return seen;
}

async function compare(context, kind) {
  const folder = context.folder('modern');
  const direct = await withSession(context.direct(modernCommand(context), { cwd: folder }), kind, {}, record);
  const policy = modernPolicy(context, 'modern', folder);
  await withSession(context.through(policy), kind, {}, async (session) => {
    const seen = await record(session);
    assert.equal(seen.era, direct.era);
    assert.deepEqual(seen.basics.server, direct.basics.server);
    assert.equal(seen.basics.instructions, direct.basics.instructions);
    assert.deepEqual(seen.basics.capabilities, direct.basics.capabilities);
    assertTools(seen.basics.tools, direct.basics.tools, { effects: {} });
    assertCalls(seen.calls, direct.calls, {
      'unknown tool': assertUnknownTool,
    });
    for (const key of ['progress', 'cancellation', 'log', 'items']) assert.deepEqual(seen[key], direct[key], key);
    assert.deepEqual(seen.after.result.content, direct.after.result.content);
    for (const outcome of Object.values(seen.others)) assertMethodRefused(outcome);
    assert.deepEqual(seen.asked, direct.asked, 'what the server asked');
    assert.deepEqual(session.errors.map(String), []);
  });
}

export async function modern(context, kinds) {
  for (const kind of kinds) {
    await test(`server of both eras with ${kind}: as without mcp-cordon`, () => compare(context, kind));
  }
  await test('the audit log of such a session verifies', () => {
    assert.match(context.toolOk(['audit', 'verify', 'modern']).stdout, /, 0 faults/);
    const { stdout } = context.toolOk(['audit', 'show', 'modern']);
    assert.match(stdout, /^\S+ launch purpose=run /m);
    assert.match(stdout, /^\S+ call .*\btool=add\b/m);
  });
}

