// SPDX-License-Identifier: Apache-2.0
// A very small test runner: tests run one after the other, each with a time limit, and every one is printed.
import assert from 'node:assert/strict';

export { assert };

const counts = { passed: 0, failed: 0, skipped: 0 };
let prefix = '';
let filter = null;

export function configure(options) {
  prefix = options.prefix ?? '';
  filter = options.filter ?? null;
}

const label = (name) => (prefix ? `${prefix}: ${name}` : name);

export async function test(name, body, { timeoutMs = 60_000 } = {}) {
  if (filter && !label(name).includes(filter)) return;
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${timeoutMs} ms`)), timeoutMs);
  });
  const started = Date.now();
  try {
    await Promise.race([Promise.resolve().then(body), limit]);
    counts.passed += 1;
    console.log(`ok       ${label(name)} (${Date.now() - started} ms)`);
  } catch (error) {
    counts.failed += 1;
    console.log(`FAILED   ${label(name)}`);
    console.log(String(error?.stack ?? error).replace(/^/gm, '         '));
  } finally {
    clearTimeout(timer);
  }
}

export function skip(name, reason) {
  if (filter && !label(name).includes(filter)) return;
  counts.skipped += 1;
  console.log(`[skip] ${label(name)}: ${reason}`);
}

export function add(other) {
  for (const key of Object.keys(counts)) counts[key] += other[key];
}

export const totals = () => ({ ...counts });
