// SPDX-License-Identifier: Apache-2.0
// Rug pulls: the server's catalog is no longer what was reviewed, at start or in mid-session, in both eras.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { MODERN, withSession } from '../lib/clients.mjs';
import { assertRefused, assertUnknownTool } from '../lib/results.mjs';
import { assert, test } from '../lib/runner.mjs';
import { modernPolicy } from './modern.mjs';

const REVIEWED = 'Adds two numbers';

async function assertAddBlocked(session) {
  const tools = await session.tools();
  const add = tools.find((tool) => tool.name === 'add');
  assert.equal(add?.description, REVIEWED, 'the tool is listed as it was reviewed');
  assert.ok(!JSON.stringify(tools).includes('keys of the user'), 'the new text reaches nobody');
  assertRefused(await session.tryCall('add', { a: 1, b: 2 }), 'tool_changed');
}

async function assertExtraHidden(session) {
  const tools = await session.tools();
  assert.ok(!tools.some((tool) => tool.name === 'extra'), 'an added tool is not listed');
  assertUnknownTool(await session.tryCall('extra'));
}

const assertOthersWork = async (session) =>
  assert.equal((await session.call('structured', { city: 'Oslo' })).content[0].text, 'Oslo: 21');

// Reviews the catalog as it is, then lets the server start with another.
async function afterReview(context, name, word, kind, body) {
  const folder = context.folder(name);
  const policy = modernPolicy(context, name, folder);
  writeFileSync(path.join(folder, 'catalog.txt'), word);
  await withSession(context.through(policy), kind, {}, (session) => body(session, policy));
}

export async function drift(context, kinds) {
  for (const kind of kinds) {
    await test(`a description that changed between two runs, ${kind}: blocked, the rest works`, () =>
      afterReview(context, 'drift-changed', 'changed', kind, async (session) => {
        // A call before any list: the pin decides, not what the client has seen.
        assertRefused(await session.tryCall('add', { a: 1, b: 2 }), 'tool_changed');
        await assertAddBlocked(session);
        await assertOthersWork(session);
        await assertAddBlocked(session); // asking again does not make it the baseline
      }));

    await test(`a tool that was added, ${kind}: hidden, the rest works`, () =>
      afterReview(context, 'drift-added', 'added', kind, async (session) => {
        await assertExtraHidden(session);
        await assertOthersWork(session);
        assert.equal((await session.call('add', { a: 1, b: 2 })).content[0].text, '3');
      }));

    await test(`a prompt that changed, ${kind}: listed as reviewed, refused; resources as reviewed`, () =>
      afterReview(context, 'drift-prompt', 'prompt', kind, async (session) => {
        const use = session.client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } });
        assert.match((await session.outcome(use)).error?.message ?? '', /tool_changed/);
        const { prompts } = await session.client.listPrompts();
        assert.deepEqual(prompts.map(({ description }) => description), ['Greets']);
        const read = async (uri) => session.outcome(session.client.readResource({ uri }));
        assert.equal((await read('demo://notes/1')).result?.contents[0].text, 'prompt');
        assert.match((await read('demo://notes/2')).error?.message ?? '', /tool_blocked/); // by a template only
        assert.match((await read('file:///etc/passwd')).error?.message ?? '', /Unknown resource/);
        await assertOthersWork(session);
      }));

    await test(`instructions that changed, ${kind}: the reviewed ones are served`, () =>
      afterReview(context, 'drift-instructions', 'instructions', kind, async (session) => {
        assert.equal(session.client.getInstructions(), 'Add with `add`.');
        await assertOthersWork(session);
      }));

    await test(`a catalog that changes in mid-session, ${kind}: judged against the review`, async () => {
      const folder = context.folder('drift-live');
      const policy = modernPolicy(context, 'drift-live', folder);
      await withSession(context.through(policy), kind, {}, async (session) => {
        if (session.era === MODERN) await session.client.listen({ toolsListChanged: true });
        await session.tools();
        assert.equal((await session.call('add', { a: 1, b: 2 })).content[0].text, '3');
        await session.call('switch-catalog');
        await assertAddBlocked(session);
        await assertExtraHidden(session);
        await assertOthersWork(session);
      });
    });
  }

  await test('diff names what changed, and says so by its status', async () => {
    await afterReview(context, 'drift-diff', 'changed', 'v1', async (_, policy) => {
      const done = context.tool(['diff', '--policy', policy, '--exit-code']);
      assert.equal(done.status, 1, done.stdout + done.stderr);
      assert.match(done.stdout, /add/);
      assert.match(done.stdout, /keys of the user/);
    });
  });

  await test('the command line of the client must be the one of the policy', async () => {
    const folder = context.folder('drift-command');
    const policy = modernPolicy(context, 'drift-command', folder);
    const target = context.through(policy, { command: [context.node, '/tmp/other.mjs'] });
    await assert.rejects(
      withSession(target, 'v1', {}, async () => {}),
      /launch_changed/,
    );
  });
}
