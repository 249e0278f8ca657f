// SPDX-License-Identifier: Apache-2.0
// A server of the handshake era that ends on any request before `initialize`, as some do. Its transport is the official
// one; the end is ours.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'ends-on-probe', version: '1.0.0' });
server.registerTool('pid', { description: 'Says which process it is' }, () => ({
  content: [{ type: 'text', text: String(process.pid) }],
}));
const transport = new StdioServerTransport();
await server.connect(transport);
const pass = transport.onmessage;
let opened = false;
transport.onmessage = (message, ...rest) => {
  opened ||= message.method === 'initialize';
  if (!opened && message.id !== undefined) {
    console.error(`ends on ${message.method}`);
    process.exit(1);
  }
  pass(message, ...rest);
};
