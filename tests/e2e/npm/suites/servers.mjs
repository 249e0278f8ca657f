// SPDX-License-Identifier: Apache-2.0
// The four reference servers, driven by each client with and without the proxy: the same but for what policy forbids.
import path from 'node:path';
import { withSession } from '../lib/clients.mjs';
import { assertCalls, assertTools } from '../lib/results.mjs';
import { assert, test } from '../lib/runner.mjs';
import { SCENARIOS, assertRecording } from '../lib/scenarios.mjs';

// Sampling and roots are blocked here, so the comparison is with a client that has neither; see questions.mjs.
const ELICITATION_ONLY = { elicitation: { form: {}, url: {} } };

const RULES = {
  everything: [
    { tools: ['get-env'], action: 'hide' },
    { tools: ['toggle-*', 'trigger-elicitation-request'], action: 'allow' },
  ],
  filesystem: [],
  memory: [{ tools: ['create_*', 'add_*'], action: 'allow' }],
  'sequential-thinking': [],
};

export function testPolicy(context, scenario, folder, isolation = {}) {
  const policy = context.policy(scenario.name, {
    command: [context.node, context.entry(scenario.name), ...scenario.args(folder)],
    environment: scenario.environment?.(context.homeInside(scenario.name)),
    ...(scenario.grants?.(folder) ?? {}),
    isolation,
    catalog: { drift: { launch: 'flag' } },
    client_requests: { roots: 'block' },
    ...(RULES[scenario.name].length ? { tools: { rules: RULES[scenario.name] } } : {}),
  });
  context.useShippedSnapshot(policy, scenario.name);
  return policy;
}

async function compare(context, scenario, kind, isolation = {}) {
  const folder = context.folder(`data-${scenario.name}`);
  scenario.prepare?.(folder);
  const command = [context.node, context.entry(scenario.name), ...scenario.args(folder)];
  // The direct server keeps its files where the private HOME of the proxied one is, so that texts are equal.
  const home = context.folder('server-home');
  const direct = await withSession(
    context.direct(command, { environment: scenario.environment?.(home) }),
    kind,
    { capabilities: ELICITATION_ONLY },
    (session) => scenario.record(session, folder),
  );
  scenario.prepare?.(folder);
  context.folder(path.join('caller-home', '.local/state/mcp-cordon/homes'));
  const policy = testPolicy(context, scenario, folder, isolation);
  await withSession(context.through(policy), kind, { roots: [{ uri: 'file:///etc', name: 'trap' }] }, async (session) => {
    const seen = await scenario.record(session, folder);
    assertRecording(scenario, seen, direct, {
      assertBasics: (ours, theirs) => {
        assert.deepEqual(ours.server, theirs.server);
        assert.equal(ours.instructions, theirs.instructions);
        assert.deepEqual(ours.capabilities, theirs.capabilities);
        assertTools(ours.tools, theirs.tools, {
          effects: context.shippedEffects(scenario.name),
          hidden: scenario.hidden,
        });
      },
      assertCalls,
    });
    assert.deepEqual(
      session.asked.filter((method) => method !== 'elicitation/create'),
      [],
      'sampling and roots are not asked of the client',
    );
    assert.deepEqual(session.errors.map(String), [], 'the client met no malformed message');
  });
}

export async function servers(context, kinds) {
  for (const scenario of SCENARIOS) {
    for (const kind of kinds) {
      await test(`${scenario.name} with ${kind}: as without mcp-cordon, save what policy forbids`, () =>
        compare(context, scenario, kind));
    }
  }
}

// What `syscalls: strict` leaves out, none of them needs.
export async function strict(context) {
  for (const scenario of SCENARIOS) {
    await test(`${scenario.name} with strict system calls: as without mcp-cordon, save what policy forbids`, () =>
      compare(context, scenario, 'v1', { syscalls: 'strict' }));
  }
}
