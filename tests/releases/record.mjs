// SPDX-License-Identifier: Apache-2.0
// Keeps a few steps of a measurement as data for tests/core/catalog/releases_data_test.cpp: small definitions from packages with
// a licence that allows it, with what naive.mjs expects of each. Usage: record.mjs WORK > tests/data/releases/steps.json
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { compareRaw, expectedWords, rawCatalog, same, withoutForm } from './naive.mjs';

const [work] = process.argv.slice(2);
const STEPS = [
  ['@modelcontextprotocol/server-memory', '2025.8.4', '2025.9.25'],
  ['@modelcontextprotocol/server-memory', '2025.9.25', '2025.11.25'],
  ['@modelcontextprotocol/server-filesystem', '2025.8.21', '2025.11.25'],
  ['@modelcontextprotocol/server-github', '0.6.2', '2025.1.23'],
  ['@modelcontextprotocol/server-slack', '2025.1.17', '2025.4.25'],
  ['@playwright/mcp', '0.0.38', '0.0.78'],
  ['@playwright/mcp', '0.0.80', '0.0.81'],
  ['@supabase/mcp-server-supabase', '0.12.0', '0.13.0'],
  ['figma-developer-mcp', '0.8.0', '0.10.0'],
  ['firecrawl-mcp', '3.22.0', '3.23.0'],
  ['mcp-server-kubernetes', '2.9.6', '4.1.2'],
  ['tavily-mcp', '0.2.3', '0.2.10'],
];
const MAX_BYTES = 2_500; // of both definitions
const MAX_TOOLS = 4; // of a step, with different words each

function folderOf(name, version) {
  return path.join(work, 'releases', `${name.replace('/', '+')}@${version}`);
}

const steps = [];
for (const [name, from, to] of STEPS) {
  const before = rawCatalog(path.join(folderOf(name, from), 'said-1.jsonl'));
  const after = rawCatalog(path.join(folderOf(name, to), 'said-1.jsonl'));
  const { license } = JSON.parse(readFileSync(path.join(folderOf(name, to), 'node_modules', name, 'package.json'), 'utf8'));
  const kept = [];
  const seen = new Set();
  for (const one of compareRaw(before, after)) {
    const words = one.kind === 'changed' ? expectedWords(one.before, one.after) : [];
    const kind = one.kind === 'changed' && same(withoutForm(one.before), withoutForm(one.after)) ? 'cosmetic' : one.kind;
    const shape = `${kind} ${words.map(([word]) => word).sort().join(' ')}`;
    const size = JSON.stringify([one.before, one.after]).length;
    if (one.item !== 'tool' || size > MAX_BYTES || seen.has(shape) || kept.length === MAX_TOOLS) continue;
    seen.add(shape);
    kept.push({ name: one.name, kind, words: words.map(([word, pointer]) => ({ word, pointer: pointer ?? '' })), before: one.before ?? null, after: one.after ?? null });
  }
  steps.push({ package: name, license, from, to, tools: kept });
}
console.log(JSON.stringify({ steps }, null, 1));
