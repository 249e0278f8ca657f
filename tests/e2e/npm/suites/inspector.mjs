// SPDX-License-Identifier: Apache-2.0
// The official inspector on the command line, with and without the proxy.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { assertTools, withoutOurMeta } from '../lib/results.mjs';
import { assert, test } from '../lib/runner.mjs';
import { SCENARIOS } from '../lib/scenarios.mjs';
import { modernCommand, modernPolicy } from './modern.mjs';
import { testPolicy } from './servers.mjs';

async function inspect(context, target, args) {
  const cli = path.join(context.modules, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const all = [cli, '--cli', '--format', 'json', ...args, target.command, '--', ...target.args];
  const child = spawn(context.node, all, { env: target.env, cwd: target.cwd ?? context.work, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const status = await new Promise((resolve) => child.on('close', resolve));
  let answer;
  try {
    answer = JSON.parse(stdout);
  } catch {
    answer = undefined;
  }
  return { status, answer, stdout, stderr };
}

const call = (name, args) => ['--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)];

const CALLS = {
  everything: call('get-sum', { a: 2, b: 40 }),
  filesystem: call('list_allowed_directories', {}),
  memory: call('read_graph', {}),
  'sequential-thinking': call('sequentialthinking', {
    thought: 'one',
    nextThoughtNeeded: false,
    thoughtNumber: 1,
    totalThoughts: 1,
  }),
};

async function compare(context, scenario) {
  const folder = context.folder(`inspector-${scenario.name}`);
  scenario.prepare?.(folder);
  const home = context.folder('server-home');
  const direct = context.direct([context.node, context.entry(scenario.name), ...scenario.args(folder)], {
    environment: scenario.environment?.(home),
  });
  context.folder('caller-home/.local/state/mcp-cordon/homes');
  const proxied = context.through(testPolicy(context, scenario, folder));

  const listed = await inspect(context, proxied, ['--method', 'tools/list']);
  const reference = await inspect(context, direct, ['--method', 'tools/list']);
  assert.equal(listed.status, 0, listed.stdout + listed.stderr);
  // The inspector declares sampling and roots, which the policy blocks.
  const unseen = reference.answer.result.tools
    .map((tool) => tool.name)
    .filter((name) => /sampling|roots/.test(name));
  assertTools(listed.answer.result.tools, reference.answer.result.tools, {
    effects: context.shippedEffects(scenario.name),
    hidden: [...(scenario.hidden ?? []), ...unseen],
  });

  const seen = await inspect(context, proxied, CALLS[scenario.name]);
  const expected = await inspect(context, direct, CALLS[scenario.name]);
  assert.equal(seen.status, 0, seen.stdout + seen.stderr);
  assert.deepEqual(withoutOurMeta(seen.answer), expected.answer);
}

export async function inspector(context) {
  for (const scenario of SCENARIOS) {
    await test(`inspector --cli with ${scenario.name}: same tools, same result`, () => compare(context, scenario));
  }

  for (const era of ['legacy', 'auto', 'modern']) {
    await test(`inspector --cli, era ${era}, with a server of both eras`, async () => {
      const folder = context.folder('inspector-modern');
      const policy = modernPolicy(context, 'inspector-modern', folder);
      const args = ['--protocol-era', era, ...call('add', { a: 2, b: 3 })];
      const seen = await inspect(context, context.through(policy), args);
      const expected = await inspect(context, context.direct(modernCommand(context), { cwd: folder }), args);
      assert.equal(seen.status, 0, seen.stdout + seen.stderr);
      assert.deepEqual(withoutOurMeta(seen.answer), expected.answer);
    });
  }

  await test('inspector --cli is told of a refusal: its status for a tool error', async () => {
    const scenario = SCENARIOS.find((candidate) => candidate.name === 'filesystem');
    const folder = context.folder('inspector-refusal');
    const proxied = context.through(testPolicy(context, scenario, folder));
    const target = path.join(folder, 'x');
    const seen = await inspect(context, proxied, call('write_file', { path: target, content: 'x' }));
    assert.equal(seen.status, 5, seen.stdout + seen.stderr);
    assert.match(seen.stdout + seen.stderr, /mcp-cordon/);
  });
}
