// SPDX-License-Identifier: Apache-2.0
// Calls that want a person's word: clients of both generations show the form and send the answer back.
import { withSession } from '../lib/clients.mjs';
import { assert, test } from '../lib/runner.mjs';
import { modernCommand } from './modern.mjs';

function confirmPolicy(context, confirm = {}) {
  const folder = context.folder('confirm');
  const policy = context.policy('confirm', {
    server: 'confirm',
    command: modernCommand(context),
    cwd: folder,
    read: [folder],
    catalog: { accept_unattended: true },
    tools: { rules: [{ tools: ['add'], action: 'confirm' }, { tools: ['*'], action: 'allow' }], confirm },
  });
  context.review(policy);
  return policy;
}

const allow = { action: 'accept', content: { decision: 'allow this call' } };
const sum = (outcome) => outcome.result?.content?.[0]?.text;

// A session whose person gives `answers`, one after the other; `shown` are the forms.
async function asking(context, kind, answers, body, options = {}) {
  const shown = [];
  const handlers = {
    'elicitation/create': (params) => {
      shown.push(params);
      return answers[shown.length - 1];
    },
  };
  await withSession(context.through(confirmPolicy(context, options.confirm)), kind, { handlers, ...options }, (session) =>
    body(session, shown),
  );
}

async function accepted(context, kind) {
  await asking(context, kind, [allow, allow], async (session, shown) => {
    assert.equal(sum(await session.tryCall('add', { a: 1, b: 2 })), '3');
    assert.match(shown[0].message, /^mcp-cordon asks for confirm: may this call be made\?/);
    assert.match(shown[0].message, /tool: add\n/);
    assert.match(shown[0].message, /"a": 1,\n\s+"b": 2\n/);
    assert.deepEqual(shown[0].requestedSchema.required, ['decision']);
    // Each call by itself; others are not asked about.
    assert.equal(sum(await session.tryCall('add', { a: 1, b: 2 })), '3');
    assert.equal(shown.length, 2);
    assert.match(sum(await session.tryCall('structured', { city: 'x' })), /21/);
    assert.equal(shown.length, 2);
    assert.deepEqual(session.errors.map(String), []);
  });
}

async function declined(context, kind) {
  const answers = [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { decision: 'refuse' } }];
  await asking(context, kind, answers, async (session, shown) => {
    for (const a of [1, 2, 3]) {
      const outcome = await session.tryCall('add', { a, b: 0 });
      assert.equal(outcome.result?.isError, true, JSON.stringify(outcome));
      assert.match(sum(outcome), /\(confirmation_declined\)/);
      // The same again is no question.
      assert.match(sum(await session.tryCall('add', { b: 0, a })), /\(confirmation_declined\)/);
      assert.equal(shown.length, a);
    }
    assert.match(sum(await session.tryCall('structured', { city: 'x' })), /21/);
    assert.deepEqual(session.errors.map(String), []);
  });
}

async function atOnce(context, kind) {
  const handlers = {
    'elicitation/create': (params) => (/"a": 1\b/.test(params.message) ? { action: 'decline' } : allow),
  };
  await withSession(context.through(confirmPolicy(context)), kind, { handlers }, async (session) => {
    const [one, two] = await Promise.all([
      session.tryCall('add', { a: 1, b: 5 }),
      session.tryCall('add', { a: 2, b: 5 }),
    ]);
    assert.match(sum(one), /\(confirmation_declined\)/);
    assert.equal(sum(two), '7');
  });
}

async function cannotAsk(context, kind) {
  const options = { capabilities: {}, confirm: { without_client_support: 'block' } };
  await asking(
    context,
    kind,
    [],
    async (session) => {
      assert.match(sum(await session.tryCall('add', { a: 1, b: 2 })), /\(confirmation_unavailable\)/);
    },
    options,
  );
}

async function outOfTime(context, kind) {
  let release;
  const handlers = {
    'elicitation/create': () => new Promise((resolve) => { release = () => resolve({ action: 'cancel' }); }),
  };
  const policy = confirmPolicy(context, { timeout_seconds: 5 });
  await withSession(context.through(policy), kind, { handlers }, async (session) => {
    const outcome = await session.tryCall('add', { a: 1, b: 2 });
    assert.match(sum(outcome), /\(timed_out\)/);
    release();
    assert.match(sum(await session.tryCall('structured', { city: 'x' })), /21/);
  });
}

export async function confirm(context, kinds) {
  for (const kind of kinds) {
    await test(`a person allows a call, with ${kind}`, () => accepted(context, kind));
    await test(`a person refuses a call, with ${kind}`, () => declined(context, kind));
    await test(`two questions at once, with ${kind}`, () => atOnce(context, kind));
    await test(`a client that cannot ask, with ${kind}`, () => cannotAsk(context, kind));
    // In the stateless era the client asks in its own time.
    if (kind === 'v1' || kind === 'v2-legacy') await test(`nobody answers, with ${kind}`, () => outOfTime(context, kind));
  }
  await test('the audit log of such sessions verifies', () => {
    assert.match(context.toolOk(['audit', 'verify', 'confirm']).stdout, /, 0 faults/);
    const { stdout } = context.toolOk(['audit', 'show', 'confirm']);
    assert.match(stdout, /^\S+ confirmation .*\boutcome=allowed\b/m);
    assert.match(stdout, /^\S+ call .*\bdecision=confirm\b/m);
  });
}
