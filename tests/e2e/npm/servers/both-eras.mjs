// SPDX-License-Identifier: Apache-2.0
// A server of both eras without any library: it answers what it is asked to, whether that is right or not, or never; and
// its tool `job` becomes a task of the stateless era, which asks in its course.
import { createInterface } from 'node:readline';

const TASKS = 'io.modelcontextprotocol/tasks';
const INFO = { name: 'both-eras', version: '1' };
const CAPABILITIES = { tools: {}, extensions: { [TASKS]: {} } };
const STRING = { type: 'string' };
const tool = (name, properties, more = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  ...more,
});
const TOOLS = [
  tool('echo', { text: STRING }),
  tool('read', { path: STRING }, { annotations: { readOnlyHint: true } }),
  tool('item', { mode: STRING }),
  tool('weather', { truly: { type: 'boolean' } }, {
    outputSchema: { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] },
  }),
  tool('wait', {}),
  tool('ask', { what: STRING }),
  tool('job', {}),
];
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const jobs = new Map(); // taskId -> {status, answer}

function task(taskId) {
  const { status, answer } = jobs.get(taskId);
  const time = '2026-01-01T00:00:00Z';
  const members = { taskId, status, createdAt: time, lastUpdatedAt: time, ttlMs: 60_000 };
  if (status === 'input_required') {
    const requestedSchema = { type: 'object', properties: { name: STRING }, required: ['name'] };
    members.inputRequests = { who: { method: 'elicitation/create', params: { message: 'Who is it for?', requestedSchema } } };
  }
  if (status === 'completed') members.result = { ...text(`\u001b[31mfor ${answer}`), resultType: 'complete' };
  return members;
}

// In the stateless era, with an answer or a question.
function ask({ what }, answer) {
  if (answer) return text(answer.action ?? answer.content.text);
  const said = [{ role: 'user', content: { type: 'text', text: 'hi' } }];
  const question =
    what === 'sampling'
      ? { method: 'sampling/createMessage', params: { messages: said, maxTokens: 5 } }
      : { method: 'elicitation/create', params: { mode: 'url', message: 'Sign in', url: what, elicitationId: 'e1' } };
  return { resultType: 'input_required', inputRequests: { question } };
}

function call({ name, arguments: args, inputResponses }, modern) {
  if (name === 'echo') return text(args.text);
  if (name === 'read') return text(`read ${args.path}`);
  if (name === 'item') return text(`did ${args.mode}`);
  if (name === 'weather') return { ...text('21'), structuredContent: { degrees: args.truly ? 21 : 'warm' } };
  if (name === 'ask') return ask(args, inputResponses?.question);
  if (name !== 'job' || !modern) return undefined; // never
  const taskId = `job-${jobs.size + 1}`;
  jobs.set(taskId, { status: 'working' });
  return { ...task(taskId), resultType: 'task' };
}

// The task works until it was looked at, asks until it was answered, and then is done.
function ofTask(method, { taskId, inputResponses }) {
  const job = jobs.get(taskId);
  if (method === 'tasks/cancel') job.status = 'cancelled';
  else if (method === 'tasks/update') Object.assign(job, { status: 'completed', answer: inputResponses.who.content?.name });
  else {
    const members = task(taskId);
    if (job.status === 'working') job.status = 'input_required';
    return members;
  }
  return {};
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const modern = params?._meta?.['io.modelcontextprotocol/protocolVersion'] === '2026-07-28';
  const whole = modern ? { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': INFO } } : {};
  const cached = modern ? { ttlMs: 0, cacheScope: 'private' } : {};
  const reply = (result) => send({ id, result: { ...whole, ...result } });
  if (method === 'initialize') {
    reply({ protocolVersion: params.protocolVersion, capabilities: CAPABILITIES, serverInfo: INFO });
  } else if (method === 'server/discover' && modern) {
    reply({ supportedVersions: ['2026-07-28'], capabilities: CAPABILITIES, ...cached });
  } else if (method === 'tools/list') {
    reply({ tools: TOOLS, ...cached });
  } else if (method === 'tools/call') {
    const result = call(params, modern);
    if (result) reply(result);
  } else if (method.startsWith('tasks/') && modern && jobs.has(params.taskId)) {
    reply(ofTask(method, params));
  } else {
    send({ id, error: { code: -32601, message: 'no' } });
  }
});
