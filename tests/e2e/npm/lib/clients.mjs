// SPDX-License-Identifier: Apache-2.0
// One face for the two generations of the official client, so that a scenario is written once.
// A target is {command, args, env, cwd}: the server itself, or mcp-cordon in front of it.
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as v1 from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';

export const MODERN = '2026-07-28';

const INFO = { name: 'mcp-cordon-e2e', version: '0.0.0' };

// What the scenarios let the client offer. Tasks of its own are left out: nothing of them passes.
export const FULL_CAPABILITIES = { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } };

const V1_SCHEMAS = {
  'elicitation/create': v1.ElicitRequestSchema,
  'sampling/createMessage': v1.CreateMessageRequestSchema,
  'roots/list': v1.ListRootsRequestSchema,
  'notifications/message': v1.LoggingMessageNotificationSchema,
  'notifications/tools/list_changed': v1.ToolListChangedNotificationSchema,
};

class Session {
  constructor(client, transport, generation) {
    this.client = client;
    this.transport = transport;
    this.generation = generation;
    this.stderr = '';
    this.logs = []; // notifications/message
    this.listChanged = 0; // notifications/tools/list_changed
    this.asked = []; // methods that the server asked of us
    this.errors = [];
    this.waiters = [];
  }

  // The protocol revision, as far as the client tells.
  get era() {
    return this.client.getNegotiatedProtocolVersion?.();
  }

  on(method, handler) {
    const wrapped = async (message) => {
      const answer = await handler(message.params ?? {});
      this.wake();
      return answer;
    };
    const key = this.generation === 1 ? V1_SCHEMAS[method] : method;
    if (method.startsWith('notifications/')) this.client.setNotificationHandler(key, wrapped);
    else this.client.setRequestHandler(key, wrapped);
  }

  wake() {
    const all = this.waiters;
    this.waiters = [];
    for (const resolve of all) resolve();
  }

  // Waits until `condition()` holds; it is looked at whenever something arrives.
  async until(condition, what) {
    const deadline = Date.now() + 20_000;
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.waiters.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  call(name, args = {}, options = {}) {
    const params = { name, arguments: args };
    return this.generation === 1
      ? this.client.callTool(params, undefined, options)
      : this.client.callTool(params, options);
  }

  // The outcome as a value, whether result or error.
  async outcome(promise) {
    try {
      return { result: await promise };
    } catch (error) {
      return { error: { code: error.code, message: error.message } };
    }
  }

  tryCall(name, args = {}, options = {}) {
    return this.outcome(this.call(name, args, options));
  }

  async tools() {
    return (await this.client.listTools()).tools;
  }

  async close() {
    const pid = this.transport.pid;
    await this.client.close();
    return pid;
  }
}

// The client starts a process apart for its probe only with the transport that it knows; with one of somebody else's it
// probes in place, and goes on there.
class OtherTransport extends TransportV2 {}

// kind: 'v1' | 'v2-legacy' | 'v2-auto' | 'v2-modern' | 'v2-in-place'
export async function connect(target, kind, { capabilities = FULL_CAPABILITIES, handlers = {}, roots = [] } = {}) {
  const parameters = { command: target.command, args: target.args, env: target.env, cwd: target.cwd, stderr: 'pipe' };
  const Transport = { v1: TransportV1, 'v2-in-place': OtherTransport }[kind] ?? TransportV2;
  const transport = new Transport(parameters);
  const mode = { 'v2-legacy': 'legacy', 'v2-auto': 'auto', 'v2-in-place': 'auto', 'v2-modern': { pin: MODERN } }[kind];
  const client =
    kind === 'v1'
      ? new ClientV1(INFO, { capabilities })
      : new ClientV2(INFO, { capabilities, versionNegotiation: { mode, probe: { timeoutMs: 20_000 } } });
  const session = new Session(client, transport, kind === 'v1' ? 1 : 2);
  client.onerror = (error) => {
    // Progress that comes in one read with the result is handled after it, with and without anything in between.
    if (!/progress notification for an unknown token/.test(error.message)) session.errors.push(error);
    session.wake();
  };
  client.onclose = () => session.wake();
  transport.stderr?.on('data', (chunk) => {
    session.stderr += chunk;
    session.wake();
  });
  session.on('notifications/message', (params) => void session.logs.push(params));
  session.on('notifications/tools/list_changed', () => void (session.listChanged += 1));
  const answers = {
    'elicitation/create': () => ({ action: 'accept', content: { name: 'Ada' } }),
    'sampling/createMessage': () => ({
      role: 'assistant',
      model: 'none',
      content: { type: 'text', text: 'sampled' },
    }),
    'roots/list': () => ({ roots }),
    ...handlers,
  };
  const needs = { 'elicitation/create': 'elicitation', 'sampling/createMessage': 'sampling', 'roots/list': 'roots' };
  for (const [method, capability] of Object.entries(needs)) {
    if (!capabilities[capability]) continue;
    session.on(method, (params) => {
      session.asked.push(method);
      return answers[method](params);
    });
  }
  try {
    await client.connect(transport, { timeout: 30_000 });
  } catch (error) {
    await transport.close().catch(() => {});
    error.message += `\nstderr of the command:\n${session.stderr}`;
    throw error;
  }
  return session;
}

export async function withSession(target, kind, options, body) {
  const session = await connect(target, kind, options);
  try {
    return await body(session);
  } catch (error) {
    error.message += `\nstderr of the command:\n${session.stderr}`;
    throw error;
  } finally {
    await session.close();
  }
}
