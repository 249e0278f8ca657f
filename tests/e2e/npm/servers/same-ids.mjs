// SPDX-License-Identifier: Apache-2.0
// A server of the handshake era without any library, which asks the client during a call under the very id of that call,
// and whose structured answer may be another than it promised.
import { createInterface } from 'node:readline';

const tool = (name, properties, more = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  ...more,
});
const TOOLS = [
  tool('ask', { who: { type: 'string' } }),
  tool('plain', { n: { type: 'integer' } }),
  tool('weather', { truly: { type: 'boolean' } }, {
    outputSchema: { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] },
  }),
];
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const asked = new Map(); // id of a call, which is also that of its question

function call(id, { name, arguments: args }) {
  if (name === 'plain') return send({ id, result: text(`plain ${args.n}`) });
  if (name === 'weather') return send({ id, result: { ...text('21'), structuredContent: { degrees: args.truly ? 21 : 'warm' } } });
  asked.set(id, args.who);
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
  return send({ id, method: 'elicitation/create', params: { message: `Who is ${args.who}?`, requestedSchema } });
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === 'initialize') {
    send({
      id,
      result: {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'same-ids', version: '1' },
      },
    });
  } else if (method === 'tools/list') send({ id, result: { tools: TOOLS } });
  else if (method === 'tools/call') call(id, params);
  else if (method === undefined && asked.has(id)) {
    const who = asked.get(id);
    asked.delete(id);
    send({ id, result: text(`${who}: ${result?.action} ${result?.content?.name ?? ''}`.trim()) });
  } else if (id !== undefined && method) send({ id, error: { code: -32601, message: 'no' } });
});
