// SPDX-License-Identifier: Apache-2.0
// How what was recorded without the proxy must look through it: the product contract, written down once.
import { assert } from './runner.mjs';

// What a client may think of a tool of each effect class (readOnlyHint, destructiveHint, openWorldHint).
const HINTS = {
  read: [true, false, false],
  write: [false, false, false],
  send: [false, false, true],
  destructive: [false, true, true],
  execute: [false, true, true],
  unknown: [false, true, true],
};

const withoutHints = ({ annotations, ...definition }) => {
  const rest = { ...annotations };
  for (const hint of ['readOnlyHint', 'destructiveHint', 'openWorldHint', 'idempotentHint']) delete rest[hint];
  return Object.keys(rest).length ? { ...definition, annotations: rest } : definition;
};

// `effects`: tool name → reviewed class; `hidden`: names that the policy does not list.
export function assertTools(seen, direct, { effects, hidden = [] }) {
  const expected = direct.filter((tool) => !hidden.includes(tool.name));
  assert.deepEqual(
    seen.map((tool) => tool.name).sort(),
    expected.map((tool) => tool.name).sort(),
  );
  for (const tool of seen) {
    const original = expected.find((candidate) => candidate.name === tool.name);
    assert.deepEqual(withoutHints(tool), withoutHints(original), `definition of ${tool.name}`);
    const { readOnlyHint, destructiveHint, openWorldHint } = tool.annotations ?? {};
    assert.deepEqual(
      [readOnlyHint, destructiveHint, openWorldHint],
      HINTS[effects[tool.name] ?? 'unknown'],
      `hints of ${tool.name}`,
    );
  }
}

// A refused call: an error result with one text block, from mcp-cordon, and nothing that the server wrote.
export function assertRefused(outcome, type) {
  assert.ok(outcome.result, `a result was expected, not ${JSON.stringify(outcome)}`);
  assert.equal(outcome.result.isError, true, JSON.stringify(outcome));
  assert.equal(outcome.result.content.length, 1);
  assert.equal(outcome.result.content[0].type, 'text');
  assert.match(outcome.result.content[0].text, /mcp-cordon/);
  assert.equal(outcome.result.structuredContent, undefined);
  if (type) assert.ok(JSON.stringify(outcome.result).includes(type), `${type}: ${JSON.stringify(outcome.result)}`);
}

// Hidden and unknown tools look alike.
export function assertUnknownTool(outcome) {
  assert.ok(outcome.error, `an error was expected, not ${JSON.stringify(outcome)}`);
  assert.equal(outcome.error.code, -32602);
}

export function assertMethodRefused(outcome) {
  assert.ok(outcome.error, `an error was expected, not ${JSON.stringify(outcome)}`);
  assert.equal(outcome.error.code, -32601, JSON.stringify(outcome));
}

const ours = (key) => key.startsWith('dev.mcp-cordon/');

// Results carry nothing of ours that a client would not expect, save members of _meta under our own name.
export function withoutOurMeta(value) {
  if (Array.isArray(value)) return value.map(withoutOurMeta);
  if (!value || typeof value !== 'object') return value;
  const copy = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === '_meta') {
      const meta = Object.fromEntries(Object.entries(member).filter(([name]) => !ours(name)));
      if (Object.keys(meta).length) copy[key] = meta;
    } else {
      copy[key] = withoutOurMeta(member);
    }
  }
  return copy;
}

// Compares calls made without and with the proxy. `special`: label → check of what came through.
export function assertCalls(seen, direct, special = {}) {
  assert.deepEqual(Object.keys(seen).sort(), Object.keys(direct).sort());
  for (const [label, outcome] of Object.entries(seen)) {
    if (special[label]) special[label](outcome, direct[label]);
    else assert.deepEqual(withoutOurMeta(outcome), direct[label], `result of ${label}`);
  }
}
