// SPDX-License-Identifier: Apache-2.0
// What a server asks of the client: sampling, elicitation, roots, as client_requests says, in both eras.
import { MODERN, withSession } from '../lib/clients.mjs';
import { assert, test } from '../lib/runner.mjs';
import { modernPolicy } from './modern.mjs';

const textOf = (result) => result.content.map((block) => block.text ?? '').join('\n');
const names = async (session) => (await session.tools()).map(({ name }) => name);

// server-everything, every tool allowed, with these client_requests.
function everythingPolicy(context, name, client_requests, data) {
  const policy = context.policy(name, {
    server: 'everything',
    command: [context.node, context.entry('everything')],
    read: data ? [data] : [],
    catalog: { drift: { launch: 'flag' } },
    tools: { rules: [{ tools: ['*'], action: 'allow' }] },
    client_requests,
  });
  context.useShippedSnapshot(policy, 'everything');
  return policy;
}

const audit = (context, server) => context.toolOk(['audit', 'show', server]).stdout;

async function sampling(context, kind) {
  const arguments_ = { prompt: 'hi', maxTokens: 5 };
  for (const word of ['allow', 'flag']) {
    const policy = everythingPolicy(context, `sampling-${word}`, { sampling: word });
    let params;
    const handlers = {
      'sampling/createMessage': (given) => {
        params = given;
        return { role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } };
      },
    };
    await withSession(context.through(policy), kind, { handlers }, async (session) => {
      assert.ok((await names(session)).includes('trigger-sampling-request'));
      assert.match(textOf(await session.call('trigger-sampling-request', arguments_)), /sampled/);
      assert.equal(params._meta?.['dev.mcp-cordon/flagged'], word === 'flag' ? true : undefined);
      assert.equal(/sampling\/createMessage; it passed and is flagged/.test(session.stderr), word === 'flag');
      assert.deepEqual(session.errors.map(String), []);
    });
    assert.match(audit(context, 'everything'), new RegExp(`question .*method=sampling/createMessage decision=${word}`));
  }
  const policy = everythingPolicy(context, 'sampling-block', { sampling: 'block' });
  await withSession(context.through(policy), kind, {}, async (session) => {
    assert.ok(!(await names(session)).includes('trigger-sampling-request'), 'the server does not get to know of it');
    assert.deepEqual(session.asked.filter((method) => method.startsWith('sampling')), []);
  });
}

async function elicitation(context, kind) {
  const policy = everythingPolicy(context, 'elicitation', {});
  const asked = [];
  const handlers = {
    'elicitation/create': (params) => {
      asked.push(params);
      return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: 'Ada' } };
    },
  };
  await withSession(context.through(policy), kind, { handlers }, async (session) => {
    assert.match(textOf(await session.call('trigger-elicitation-request')), /Ada/);
    assert.match(asked[0].message, /^everything asks: /);
    assert.deepEqual(asked[0]._meta['dev.mcp-cordon/rewritten'], ['message']);
    const open = (url, more = {}) => session.tryCall('trigger-url-elicitation', { url, message: 'Sign in', ...more });
    const passed = await open('https://login.example.org/start');
    assert.match(textOf(passed.result), /accept/i);
    assert.equal(asked[1].url, 'https://login.example.org/start');
    assert.equal(asked[1].message, 'everything asks: Sign in');
    for (const url of ['http://login.example.org/', 'https://127.0.0.1/', 'https://u@login.example.org/']) {
      assert.match(textOf((await open(url)).result), /decline/i, url);
    }
    assert.equal(asked.length, 2, 'what was declined did not reach the client');
    const required = await open('https://login.example.org/again', { errorPath: true });
    assert.equal(required.error?.code, -32042);
    assert.deepEqual(session.errors.map(String), []);
  });
  const listed = everythingPolicy(context, 'elicitation-hosts', { elicitation_hosts: ['*.example.com'] });
  await withSession(context.through(listed), kind, { handlers }, async (session) => {
    const open = (url, more = {}) => session.call('trigger-url-elicitation', { url, message: 'Sign in', ...more });
    assert.match(textOf(await open('https://login.example.org/')), /decline/i);
    assert.match(textOf(await open('https://login.example.com/')), /accept/i);
    // In an error it names a host of its own, which is not in the list.
    assert.match(textOf(await open('https://login.example.com/', { errorPath: true })), /client_request_blocked/);
  });
  const blocked = everythingPolicy(context, 'elicitation-block', { elicitation: 'block' });
  await withSession(context.through(blocked), kind, {}, async (session) => {
    assert.ok((await names(session)).includes('trigger-elicitation-request'), 'the capability stays declared');
    assert.match(textOf(await session.call('trigger-elicitation-request')), /declined/);
    assert.ok(!session.asked.includes('elicitation/create'));
  });
}

async function roots(context, kind) {
  const data = context.folder('roots-data');
  const mine = [{ uri: 'file:///client/folder', name: 'mine' }];
  const rootsOf = async (word) => {
    const policy = everythingPolicy(context, `roots-${word}`, { roots: word }, data);
    return withSession(context.through(policy), kind, { roots: mine }, async (session) => {
      const listed = (await names(session)).includes('get-roots-list');
      const text = listed ? textOf(await session.call('get-roots-list')) : '';
      return { listed, text, asked: session.asked.includes('roots/list') };
    });
  };
  const policy = await rootsOf('policy');
  assert.ok(policy.text.includes(`file://${data}`), policy.text);
  assert.ok(!policy.text.includes('/client/folder'));
  assert.equal(policy.asked, false);
  for (const word of ['allow', 'flag']) {
    const seen = await rootsOf(word);
    assert.ok(seen.text.includes('/client/folder'), seen.text);
    assert.equal(seen.asked, true);
  }
  assert.deepEqual(await rootsOf('block'), { listed: false, text: '', asked: false });
}

// In this era questions stand in results and answers in a retry.
async function stateless(context) {
  const folder = context.folder('modern');
  const start = async (name, client_requests, body, handlers = {}) =>
    withSession(
      context.through(modernPolicy(context, name, folder, { client_requests })),
      'v2-modern',
      { handlers },
      async (session) => {
        assert.equal(session.era, MODERN);
        await body(session);
        assert.deepEqual(session.errors.map(String), []);
      },
    );
  let message;
  const handlers = {
    'elicitation/create': (params) => {
      message = params.message;
      return { action: 'accept', content: { name: 'Ada' } };
    },
  };
  await start('modern-ask', {}, async (session) => {
    assert.equal(textOf(await session.call('ask')), 'answer: accept');
    assert.equal(message, 'modern asks: What is your name?');
    session.asked.length = 0;
    // Declined and answered in the client's place: it hears of neither, and the call goes on.
    assert.equal(textOf(await session.call('ask-secret')), 'answer: decline');
    assert.equal(textOf(await session.call('ask-roots')), `roots: ${rootsText(context, folder)}`);
    assert.deepEqual(session.asked, []);
  }, handlers);
  await start('modern-block', { elicitation: 'block' }, async (session) => {
    assert.equal(textOf(await session.call('ask')), 'answer: decline');
    assert.deepEqual(session.asked, []);
  });
  await start('modern-roots', { roots: 'allow' }, async (session) => {
    assert.equal(textOf(await session.call('ask-roots')), 'roots: ');
    assert.deepEqual(session.asked, ['roots/list']);
  });
}

const rootsText = (context, folder) =>
  [context.modules, context.servers, folder]
    .sort()
    .map((one) => `file://${one}`)
    .join(' ');

// Clients skip their own prompts on these hints, so the difference is one that people have to ask for.
async function annotations(context) {
  const annotate = async (word) => {
    const policy = context.policy(`annotations-${word}`, {
      server: 'everything',
      command: [context.node, context.entry('everything')],
      catalog: { drift: { launch: 'flag' } },
      tools: { annotations: word, rules: [{ tools: ['*'], action: 'allow' }] },
    });
    context.useShippedSnapshot(policy, 'everything');
    return withSession(context.through(policy), 'v1', {}, async (session) =>
      Object.fromEntries((await session.tools()).map((tool) => [tool.name, tool.annotations])),
    );
  };
  const own = await withSession(
    context.direct([context.node, context.entry('everything')]),
    'v1',
    { capabilities: { elicitation: { form: {}, url: {} }, roots: {} } },
    async (session) => Object.fromEntries((await session.tools()).map((tool) => [tool.name, tool.annotations])),
  );
  assert.deepEqual(await annotate('server'), own);
  assert.notDeepEqual(await annotate('reviewed'), own);
}

export async function questions(context, kinds) {
  for (const kind of kinds) {
    await test(`sampling with ${kind}: allow, flag, block`, () => sampling(context, kind));
    await test(`elicitation with ${kind}: forms, addresses, block`, () => elicitation(context, kind));
    await test(`roots with ${kind}: policy, allow, flag, block`, () => roots(context, kind));
  }
  await test('questions inside results of the stateless era', () => stateless(context));
  await test('annotations are the reviewed ones, or those of the server when the policy says so', () => annotations(context));
}
