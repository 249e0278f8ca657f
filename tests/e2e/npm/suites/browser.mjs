// SPDX-License-Identifier: Apache-2.0
// A real server that starts a real browser: Playwright's, with the system's Chromium, which keeps its own sandbox
// inside ours. Without network it can show what is in the page itself.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { withSession } from '../lib/clients.mjs';
import { assert, skip, test } from '../lib/runner.mjs';

const CHROMIUM = '/usr/bin/chromium';
const PAGE = `data:text/html,${encodeURIComponent('<title>Inside</title><h1>x</h1><script>document.querySelector("h1").textContent=`sum ${6*7}`</script>')}`;

export function browserPolicy(context, name, isolation = {}) {
  const policy = context.policy(name, {
    server: 'browser',
    command: [
      context.node,
      path.join(context.modules, '@playwright/mcp/cli.js'),
      '--browser=chromium',
      `--executable-path=${CHROMIUM}`,
      '--headless',
      '--isolated',
      '--sandbox',
    ],
    runtime: ['node', 'browser'],
    isolation,
    catalog: { accept_unattended: true },
    tools: { rules: [{ tools: ['*'], action: 'allow' }] },
  });
  context.review(policy);
  return policy;
}

const textOf = (outcome) => JSON.stringify(outcome.result?.content ?? outcome.error);

export async function browser(context) {
  const name = 'a server with a browser works under the preset browser, without network';
  if (!existsSync(CHROMIUM)) return skip(name, `no ${CHROMIUM}`);
  await test(name, async () => {
    const policy = browserPolicy(context, 'browser');
    await withSession(context.through(policy), 'v1', { capabilities: {} }, async (session) => {
      const shown = await session.tryCall('browser_navigate', { url: PAGE });
      assert.match(textOf(shown), /Page Title: Inside/, textOf(shown));
      const page = await session.tryCall('browser_snapshot');
      assert.match(textOf(page), /sum 42/, textOf(page));
      const outside = await session.tryCall('browser_navigate', { url: 'http://127.0.0.1:9/' });
      assert.equal(outside.result.isError, true);
    });
  });
}
