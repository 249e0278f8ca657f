// SPDX-License-Identifier: Apache-2.0
// A mirror of the npm registry on loopback: what it is asked for it gets from the registry once and keeps in a folder.
// node mirror.mjs --cache DIR [--upstream URL] [--tamper PACKAGE] [--offline]     prints its port
// --tamper gives other bytes for the archives of PACKAGE under the same version; --offline asks nobody.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    cache: { type: 'string' },
    upstream: { type: 'string', default: execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '') },
    tamper: { type: 'string' },
    offline: { type: 'boolean', default: false },
  },
});

mkdirSync(options.cache, { recursive: true });

async function answer(url) {
  const place = path.join(options.cache, createHash('sha256').update(url).digest('hex'));
  if (existsSync(place)) return { status: 200, body: readFileSync(place) };
  if (options.offline) return { status: 503, body: Buffer.from('offline') };
  const upstream = await fetch(options.upstream + url, { redirect: 'follow' });
  const body = Buffer.from(await upstream.arrayBuffer());
  if (upstream.status === 200) {
    writeFileSync(`${place}.new`, body);
    renameSync(`${place}.new`, place);
  }
  return { status: upstream.status, body };
}

const server = createServer(async (request, response) => {
  try {
    const { status, body } = await answer(request.url);
    const archive = request.url.endsWith('.tgz');
    const other = archive && options.tamper && decodeURIComponent(request.url).startsWith(`/${options.tamper}/-/`);
    response.writeHead(status, { 'content-type': archive ? 'application/octet-stream' : 'application/json' });
    response.end(other ? Buffer.concat([body, Buffer.from('changed')]) : body);
  } catch (error) {
    response.writeHead(502, { 'content-type': 'text/plain' });
    response.end(String(error));
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
