// SPDX-License-Identifier: Apache-2.0
// A client that probes in place meets a server that ends on that.
import path from 'node:path';
import { connect, withSession } from '../lib/clients.mjs';
import { assert, test } from '../lib/runner.mjs';

export async function probe(context) {
  const command = [context.node, path.join(context.servers, 'ends-on-probe.mjs')];
  await test('a server that ends on the probe: a client that probes in place fails without mcp-cordon', async () => {
    await assert.rejects(async () => (await connect(context.direct(command), 'v2-in-place')).close());
  });
  const policy = context.policy('ends-on-probe', {
    command,
    catalog: { accept_unattended: true },
    tools: { rules: [{ tools: ['*'], action: 'allow' }] },
  });
  for (const kind of ['v2-in-place', 'v2-auto', 'v1']) {
    await test(`a server that ends on the probe, through mcp-cordon with ${kind}`, async () => {
      context.review(policy);
      await withSession(context.through(policy), kind, {}, async (session) => {
        assert.deepEqual((await session.tools()).map((tool) => tool.name), ['pid']);
        assert.match((await session.call('pid')).content[0].text, /^\d+$/);
        assert.deepEqual(session.errors.map(String), []);
        assert.equal(/started once more/.test(session.stderr), kind === 'v2-in-place');
      });
    });
  }
}
