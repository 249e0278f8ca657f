// SPDX-License-Identifier: Apache-2.0
// The comparisons are worth something only if the servers alone do the same twice.
import { withSession } from '../lib/clients.mjs';
import { assert, test } from '../lib/runner.mjs';
import { SCENARIOS } from '../lib/scenarios.mjs';

export async function recordings(context) {
  for (const scenario of SCENARIOS) {
    await test(`${scenario.name} without mcp-cordon does the same twice`, async () => {
      const seen = [];
      for (let i = 0; i < 2; i += 1) {
        const folder = context.folder('recording');
        scenario.prepare?.(folder);
        const environment = scenario.environment?.(context.folder('server-home'));
        const target = context.direct([context.node, context.entry(scenario.name), ...scenario.args(folder)], {
          environment,
        });
        seen.push(await withSession(target, i === 0 ? 'v1' : 'v2-legacy', {}, (session) => scenario.record(session, folder)));
      }
      delete seen[0].calls['unknown tool'];
      delete seen[1].calls['unknown tool'];
      const bare = (recording) => JSON.parse(JSON.stringify(recording).replace(/MCP error -\d+: /g, ''));
      assert.deepEqual(bare(seen[1]), bare(seen[0]));
    });
  }
}
