// SPDX-License-Identifier: Apache-2.0
// Calls that become tasks (2025-11-25): the tool of server-everything that runs as one, driven by the official client.
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { withSession } from '../lib/clients.mjs';
import { assert, test } from '../lib/runner.mjs';

const TOOL = 'simulate-research-query';

function tasksPolicy(context, name, parts) {
  const policy = context.policy(name, {
    server: 'everything',
    command: [context.node, context.entry('everything')],
    catalog: { drift: { launch: 'flag' } },
    tools: { rules: [{ tools: ['*'], action: 'allow' }] },
    ...parts,
  });
  context.useShippedSnapshot(policy, 'everything');
  return policy;
}

// Every message of one call, in order.
async function stream(session, args) {
  const seen = [];
  await session.tools(); // the client learns here which tools run as tasks
  for await (const message of session.client.experimental.tasks.callToolStream({ name: TOOL, arguments: args })) {
    seen.push(message);
  }
  return seen;
}

const ofType = (seen, type) => seen.filter((message) => message.type === type);
const audit = (context) => context.toolOk(['audit', 'show', 'everything']).stdout;

// To its end, with a question of the server on the way, which goes through the gate as any other.
async function toTheEnd(context) {
  const asked = [];
  const handlers = {
    'elicitation/create': (params) => {
      asked.push(params);
      return { action: 'accept', content: { interpretation: 'snake' } };
    },
  };
  await withSession(context.through(tasksPolicy(context, 'tasks')), 'v1', { handlers }, async (session) => {
    const seen = await stream(session, { topic: 'python', ambiguous: true });
    assert.equal(seen[0].type, 'taskCreated', JSON.stringify(seen));
    const [result] = ofType(seen, 'result');
    assert.match(result.result.content[0].text, /Research Report: python \(snake\)/);
    assert.equal(asked.length, 1);
    assert.match(asked[0].message, /^everything asks: The research query "python"/);
    const { tasks } = session.client.experimental;
    const { taskId } = seen[0].task;
    assert.equal((await tasks.getTask(taskId)).status, 'completed');
    assert.deepEqual((await tasks.listTasks()).tasks.map((task) => task.taskId), [taskId]);
    assert.match((await tasks.getTaskResult(taskId, CallToolResultSchema)).content[0].text, /Research Report/);
    for (const unknown of [`${taskId}x`, 'x']) {
      const outcome = await session.outcome(tasks.getTask(unknown));
      assert.equal(outcome.error?.code, -32602, JSON.stringify(outcome));
    }
    assert.deepEqual(session.errors.map(String), []);
  });
  assert.match(audit(context), /task .*simulate-research-query.*completed/);
}

async function cancelled(context) {
  await withSession(context.through(tasksPolicy(context, 'tasks-cancel')), 'v1', {}, async (session) => {
    const { tasks } = session.client.experimental;
    await session.tools();
    const calls = tasks.callToolStream({ name: TOOL, arguments: { topic: 'x' } });
    const { taskId } = (await calls.next()).value.task;
    assert.equal((await tasks.cancelTask(taskId)).status, 'cancelled');
    const seen = [];
    for await (const message of calls) seen.push(message);
    assert.match(String(ofType(seen, 'error')[0]?.error), /cancelled/);
  });
}

// What the gate refuses never becomes a task, and the client can say why.
async function refused(context) {
  const blocked = tasksPolicy(context, 'tasks-block', { tools: { rules: [{ tools: ['*'], action: 'block' }] } });
  await withSession(context.through(blocked), 'v1', {}, async (session) => {
    const seen = await stream(session, { topic: 'x' });
    assert.equal(ofType(seen, 'taskCreated').length, 0);
    assert.match(String(ofType(seen, 'error')[0]?.error), /tool_blocked/);
  });
  const answers = [{ action: 'decline' }, { action: 'accept', content: { decision: 'allow this call' } }];
  const handlers = { 'elicitation/create': () => answers.shift() };
  const asking = tasksPolicy(context, 'tasks-confirm', { tools: { rules: [{ tools: ['*'], action: 'confirm' }] } });
  await withSession(context.through(asking), 'v1', { handlers }, async (session) => {
    const no = await stream(session, { topic: 'x' });
    assert.equal(ofType(no, 'taskCreated').length, 0);
    assert.match(String(ofType(no, 'error')[0]?.error), /confirmation_declined/);
    assert.match(ofType(await stream(session, { topic: 'y' }), 'result')[0].result.content[0].text, /Report: y/);
  });
}

export async function tasks(context) {
  await test('a task runs to its end, with v1', () => toTheEnd(context));
  await test('a task is cancelled, with v1', () => cancelled(context));
  await test('what is refused becomes no task, with v1', () => refused(context));
}
