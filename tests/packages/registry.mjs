// SPDX-License-Identifier: Apache-2.0
// A registry of npm that holds what a test puts into it, on loopback, and can be told to misbehave.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

// One file of an archive in the old portable format.
function tarEntry(name, content, mode) {
  const header = Buffer.alloc(512);
  header.write(`package/${name}`, 0);
  header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\0' + '00', 257);
  let sum = 0;
  for (const byte of header) sum += byte;
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

export function archive(files) {
  const entries = Object.entries(files).map(([name, text]) => tarEntry(name, Buffer.from(text), name.endsWith('.js') ? 0o755 : 0o644));
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(1024)]));
}

export class Registry {
  packages = new Map(); // name → version → {manifest, bytes}
  requests = [];
  held = null; // a name whose archives are never finished
  open = new Set();

  async start() {
    this.server = createServer((request, response) => this.answer(request, response));
    this.server.on('connection', (socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
    await new Promise((resolve) => this.server.listen(this.port ?? 0, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    this.url = `http://127.0.0.1:${this.port}/`;
    return this;
  }

  stop() {
    for (const socket of this.open) socket.destroy();
    return new Promise((resolve) => this.server.close(resolve));
  }

  // `dist` replaces what is said of the archive.
  publish(manifest, files, dist = {}) {
    const bytes = archive({ 'package.json': JSON.stringify(manifest), ...files });
    const versions = this.packages.get(manifest.name) ?? new Map();
    const hasInstallScript = Boolean(manifest.scripts?.install || manifest.scripts?.postinstall);
    const said = {
      tarball: `${this.url}${manifest.name}/-/${manifest.name}-${manifest.version}.tgz`,
      integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
      shasum: createHash('sha1').update(bytes).digest('hex'),
      ...dist,
    };
    for (const key of Object.keys(said)) if (said[key] === undefined) delete said[key];
    versions.set(manifest.version, { manifest: { ...manifest, hasInstallScript, dist: said }, bytes });
    this.packages.set(manifest.name, versions);
  }

  answer(request, response) {
    this.requests.push({ url: request.url, authorization: request.headers.authorization });
    const url = decodeURIComponent(request.url);
    const file = /^\/([^/]+)\/-\/.*-(\d+\.\d+\.\d+)\.tgz$/.exec(url);
    const versions = this.packages.get(file ? file[1] : url.slice(1));
    const found = file ? versions?.get(file[2]) : versions;
    if (!found) {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error":"not found"}');
    } else if (file && this.held === file[1]) {
      response.writeHead(200, { 'content-length': found.bytes.length });
      response.write(found.bytes.subarray(0, 10)); // and never the rest
    } else if (file) {
      response.end(found.bytes);
    } else {
      const all = Object.fromEntries([...versions].map(([version, one]) => [version, one.manifest]));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ name: url.slice(1), 'dist-tags': { latest: Object.keys(all).at(-1) }, versions: all }));
    }
  }
}

// A server with the given tools, without any dependency.
export function serverFiles(tools, more = '') {
  return {
    'index.js': `#!/usr/bin/env node
${more}
const tools = ${JSON.stringify(tools)}.map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
const answers = {
  initialize: (params) => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
  'tools/list': () => ({ tools }),
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = answers[method]?.(params);
  const error = { code: -32601, message: 'no such method' };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) }) + '\\n');
});
`,
  };
}
