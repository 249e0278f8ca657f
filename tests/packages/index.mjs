// SPDX-License-Identifier: Apache-2.0
// An index of Python packages that holds what a test puts into it, on loopback, and can be told to misbehave: PEP 691
// (JSON), or PEP 503 (HTML) when told so. Wheels are made by hand.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';

const sha256 = (bytes, encoding) => createHash('sha256').update(bytes).digest(encoding);

const crcTable = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; ++bit) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});
const crc32 = (bytes) => ~bytes.reduce((crc, byte) => crcTable[(crc ^ byte) & 255] ^ (crc >>> 8), ~0) >>> 0;

// [{name, content, mode}] → an archive without compression. `mode` holds the kind of file, too.
export function zip(entries) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, content, mode = 0o100644 } of entries) {
    const bytes = Buffer.from(content);
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x0021, 8); // 1980-01-01
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(path.length, 22);
    parts.push(Buffer.from('PK\x03\x04', 'latin1'), common, path, bytes);
    const made = Buffer.from([20, 3]); // on Unix: the mode counts
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02', 'latin1'), made, common, rest, path);
    offset += 30 + path.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}

// `files`: path → text. `data`: path below NAME.data → text. `more`: further entries of the archive, as they are.
export function wheel({ name, version, files = {}, data = {}, requires = [], extras = {}, programs = {}, python, more = [] }) {
  const stem = `${name.replaceAll('-', '_')}-${version}`;
  const wanted = [
    ...requires.map((one) => `Requires-Dist: ${one}`),
    ...Object.entries(extras).flatMap(([extra, list]) => [`Provides-Extra: ${extra}`, ...list.map((one) => `Requires-Dist: ${one}; extra == '${extra}'`)]),
    ...(python ? [`Requires-Python: ${python}`] : []),
  ];
  const all = {
    ...files,
    ...Object.fromEntries(Object.entries(data).map(([path, text]) => [`${stem}.data/${path}`, text])),
    [`${stem}.dist-info/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n${wanted.map((line) => `${line}\n`).join('')}`,
    [`${stem}.dist-info/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  };
  if (Object.keys(programs).length) {
    all[`${stem}.dist-info/entry_points.txt`] = `[console_scripts]\n${Object.entries(programs).map(([bin, entry]) => `${bin} = ${entry}\n`).join('')}`;
  }
  const entries = [...Object.entries(all).map(([path, content]) => ({ name: path, content })), ...more];
  const record = entries.map((one) => `${one.name},sha256=${sha256(Buffer.from(one.content), 'base64url')},${Buffer.from(one.content).length}\n`).join('');
  return zip([...entries, { name: `${stem}.dist-info/RECORD`, content: `${record}${stem}.dist-info/RECORD,,\n` }]);
}

export class Index {
  files = new Map(); // name of a file → {package, bytes, said}
  requests = [];
  held = null; // a file that is never finished
  html = false;
  redirect = null; // where pages of packages are said to be
  open = new Set();

  // `secure`: key and certificate, for https.
  async start(secure) {
    const answer = (request, response) => this.answer(request, response);
    this.server = secure ? createSecureServer(secure, answer) : createServer(answer);
    this.server.on('connection', (socket) => {
      this.open.add(socket);
      socket.once('close', () => this.open.delete(socket));
    });
    await new Promise((resolve) => this.server.listen(this.port ?? 0, '127.0.0.1', resolve));
    this.port = this.server.address().port;
    this.url = `${secure ? 'https' : 'http'}://127.0.0.1:${this.port}/simple`;
    return this;
  }

  stop() {
    for (const socket of this.open) socket.destroy();
    return new Promise((resolve) => this.server.close(resolve));
  }

  // `said` replaces what the index says of the file: {sha256, url, python}.
  publish(made, said = {}) {
    const file = said.file ?? `${made.name.replaceAll('-', '_')}-${made.version}-${said.tag ?? 'py3-none-any'}.whl`;
    const bytes = said.bytes ?? wheel(made);
    const all = { url: `/files/${file}`, sha256: sha256(bytes, 'hex'), python: made.python, ...said };
    this.files.set(file, { package: made.name.toLowerCase().replaceAll(/[-_.]+/g, '-'), bytes, said: all });
  }

  page(name) {
    const found = [...this.files].filter(([, one]) => one.package === name);
    if (!this.html) {
      return JSON.stringify({
        meta: { 'api-version': '1.0' },
        name,
        files: found.map(([file, { said }]) => ({ filename: file, url: said.url, hashes: said.sha256 ? { sha256: said.sha256 } : said.hashes ?? {}, ...(said.python ? { 'requires-python': said.python } : {}) })),
      });
    }
    const line = ([file, { said }]) => `<a href="${said.url}#sha256=${said.sha256}"${said.python ? ` data-requires-python="${said.python.replace('>', '&gt;')}"` : ''}>${file}</a><br>\n`;
    return `<!DOCTYPE html><html><body>\n${found.map(line).join('')}</body></html>\n`;
  }

  answer(request, response) {
    this.requests.push({ url: request.url, authorization: request.headers.authorization });
    const page = /^\/simple\/([^/]+)\/$/.exec(request.url);
    const name = decodeURIComponent(request.url.split('/').at(-1));
    const found = request.url.startsWith('/files/') && this.files.get(name);
    if (page && this.redirect) {
      response.writeHead(302, { location: `${this.redirect}${request.url}` });
      response.end();
    } else if (page && [...this.files.values()].some((one) => one.package === page[1])) {
      response.setHeader('content-type', this.html ? 'text/html' : 'application/vnd.pypi.simple.v1+json');
      response.end(this.page(page[1]));
    } else if (found && this.held === name) {
      response.writeHead(200, { 'content-length': found.bytes.length });
      response.write(found.bytes.subarray(0, 10)); // and never the rest
    } else if (found) {
      response.end(found.bytes);
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' });
      response.end('not found');
    }
  }
}

// A server with the given tools, out of the standard library alone; `more` stands before it.
export function serverModule(tools, more = '') {
  return `import json, sys
${more}
TOOLS = [{'name': name, 'description': name, 'inputSchema': {'type': 'object'}} for name in ${JSON.stringify(tools)}]

def main():
    for line in sys.stdin:
        message = json.loads(line)
        if 'id' not in message:
            continue
        answer = {'jsonrpc': '2.0', 'id': message['id']}
        if message['method'] == 'initialize':
            answer['result'] = {'protocolVersion': message['params']['protocolVersion'], 'capabilities': {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}}
        elif message['method'] == 'tools/list':
            answer['result'] = {'tools': TOOLS}
        else:
            answer['error'] = {'code': -32601, 'message': 'no such method'}
        print(json.dumps(answer), flush=True)
`;
}
