// SPDX-License-Identifier: Apache-2.0
// Runs the suites. Started as root it runs them as root and then once more as an ordinary user.
// node main.mjs --cordon FILE --policies DIR --modules DIR [--user UID] [--filter TEXT]
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Context, makeWork } from './lib/context.mjs';
import { add, configure, skip, test, totals } from './lib/runner.mjs';
import { both } from './suites/both.mjs';
import { boundary } from './suites/boundary.mjs';
import { browser } from './suites/browser.mjs';
import { confirm } from './suites/confirm.mjs';
import { drift } from './suites/drift.mjs';
import { inspector } from './suites/inspector.mjs';
import { modern } from './suites/modern.mjs';
import { probe } from './suites/probe.mjs';
import { questions } from './suites/questions.mjs';
import { recordings } from './suites/recordings.mjs';
import { servers, strict } from './suites/servers.mjs';
import { shipped } from './suites/shipped.mjs';
import { tasks } from './suites/tasks.mjs';
import { texts } from './suites/texts.mjs';

const { values: options } = parseArgs({
  options: {
    cordon: { type: 'string' },
    policies: { type: 'string' },
    modules: { type: 'string' },
    user: { type: 'string' },
    filter: { type: 'string' },
    part: { type: 'boolean', default: false },
  },
});

const isRoot = process.getuid() === 0;
const who = isRoot ? 'root' : 'user';

async function runAll(work) {
  const native = new Context({ ...options, work, backend: 'native' });
  if (!options.part) {
    configure({ prefix: '', filter: options.filter });
    await recordings(native);
  }
  // Every client once, under the default backend.
  configure({ prefix: `${who}, native`, filter: options.filter });
  await shipped(native);
  await servers(native, isRoot ? ['v1', 'v2-auto'] : ['v1', 'v2-legacy', 'v2-auto']);
  await modern(native, isRoot ? ['v2-auto'] : ['v1', 'v2-legacy', 'v2-auto', 'v2-modern']);
  await confirm(native, isRoot ? ['v1', 'v2-modern'] : ['v1', 'v2-legacy', 'v2-auto', 'v2-modern']);
  await questions(native, isRoot ? ['v1'] : ['v1', 'v2-legacy']);
  await tasks(native);
  await texts(native, isRoot ? ['v1'] : ['v1', 'v2-legacy']);
  await both(native, isRoot ? ['v2-modern'] : ['v1', 'v2-legacy', 'v2-auto', 'v2-modern']);
  await probe(native);
  await drift(native, isRoot ? ['v1'] : ['v1', 'v2-modern']);
  await strict(native);
  await boundary(native);
  await browser(native);
  if (!isRoot || !options.user) await inspector(native);
  configure({ prefix: `${who}, bubblewrap`, filter: options.filter });
  const bubblewrap = native.with({ backend: 'bubblewrap' });
  await servers(bubblewrap, ['v1']);
  await modern(bubblewrap, ['v2-modern']);
  await probe(bubblewrap);
  await boundary(bubblewrap);
  await browser(bubblewrap);
  await weaker(native);
}

// Backends that are used only when they are named, with what a policy has to give up for them.
async function weaker(native) {
  configure({ prefix: `${who}, landlock`, filter: options.filter });
  if (isRoot) return skip('landlock and srt', 'their homes for root would lie in /var/lib');
  const require = ['network', 'ipc', 'syscalls', 'environment', 'descriptors', 'devices'];
  await servers(native.with({ backend: 'landlock', isolation: { require } }), ['v1']);
  configure({ prefix: `${who}, srt`, filter: options.filter });
  const missing = ['node', 'socat', 'rg'].filter((name) => !existsSync(`/usr/bin/${name}`));
  if (missing.length) return skip('srt', `there is no /usr/bin/${missing.join(', /usr/bin/')}`);
  const srt = path.join(options.modules, '@anthropic-ai/sandbox-runtime/dist/cli.js');
  await servers(native.with({ backend: 'srt', isolation: { require, srt } }), ['v1']);
}

// The same program again as another user; its counts come back as the last line.
function runAsUser(uid) {
  const command = [process.execPath, ...process.argv.slice(1), '--part'];
  const done = spawnSync('setpriv', [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    cwd: '/',
  });
  const lines = (done.stdout ?? '').trimEnd().split('\n');
  const last = lines.pop() ?? '';
  if (lines.length) console.log(lines.join('\n'));
  if (last.startsWith('{"counts":')) add(JSON.parse(last).counts);
  else return test('the run as an ordinary user ends', () => Promise.reject(new Error(last || String(done.error))));
}

const work = makeWork();
try {
  await runAll(work);
} finally {
  rmSync(work, { recursive: true, force: true });
}
configure({ prefix: '', filter: options.filter });
if (isRoot && options.user) await runAsUser(options.user);
else if (isRoot) skip('the suites as an ordinary user', 'no user was named');

const { passed, failed, skipped } = totals();
if (options.part) console.log(JSON.stringify({ counts: totals() }));
else console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
process.exit(failed || !passed ? 1 : 0);
