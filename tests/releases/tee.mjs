// SPDX-License-Identifier: Apache-2.0
// Starts a server and writes down, byte for byte, what it says: tee.mjs FILE PROGRAM ARGS…  It runs inside the sandbox, as
// the program that the policy launches, so that what mcp-cordon made of a catalog can be held against what was sent.
import { spawn } from 'node:child_process';
import { openSync, writeSync } from 'node:fs';

const [file, program, ...args] = process.argv.slice(2);
const copy = openSync(file, 'w');
const server = spawn(program, args, { stdio: ['inherit', 'pipe', 'inherit'] });
server.stdout.on('data', (bytes) => {
  // Written before it is passed on: the proxy may end us as soon as it has read the last list.
  for (let done = 0; done < bytes.length; ) done += writeSync(copy, bytes, done);
  process.stdout.write(bytes);
});
server.on('exit', (code) => process.exit(code ?? 1));
