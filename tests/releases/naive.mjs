// SPDX-License-Identifier: Apache-2.0
// The raw lists of a server and their differences, read as simply as can be: an independent reading, no part of the program.
import { readFileSync } from 'node:fs';

const LISTS = { tools: 'name', prompts: 'name', resources: 'uri', resourceTemplates: 'uriTemplate' };
const ITEMS = { tools: 'tool', prompts: 'prompt', resources: 'resource', resourceTemplates: 'resource_template' };

// What the server sent last under each key, and its answer to the opening.
export function rawCatalog(file) {
  const catalog = { tools: {}, prompts: {}, resources: {}, resourceTemplates: {}, opening: {}, contents: {} };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    let result;
    try {
      result = JSON.parse(line).result;
    } catch {
      continue;
    }
    if (result === undefined || result === null) continue;
    if (result.serverInfo !== undefined && result.capabilities !== undefined) catalog.opening = result;
    for (const content of Array.isArray(result.contents) ? result.contents : []) catalog.contents[content.uri] = result.contents;
    for (const [list, key] of Object.entries(LISTS)) {
      for (const item of Array.isArray(result[list]) ? result[list] : []) catalog[list][item[key]] = item;
    }
  }
  return catalog;
}

// Members sorted; `required` and `enum` sorted, too.
export function sorted(value, key = '') {
  if (Array.isArray(value)) {
    const items = value.map((item) => sorted(item));
    return key === 'required' || key === 'enum' ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name], name)]));
}

export const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

// What clients show for a tool: the content behind the `ui://` address that it names.
function interfaceOf(catalog, name) {
  const meta = catalog.tools[name]?._meta;
  return catalog.contents[meta?.ui?.resourceUri ?? meta?.['ui/resourceUri']];
}

// [{item, name, kind, before, after}], kind: added, removed or changed.
export function compareRaw(before, after) {
  const found = [];
  for (const [list, item] of Object.entries(ITEMS)) {
    for (const name of new Set([...Object.keys(before[list]), ...Object.keys(after[list])])) {
      const [old, young] = [before[list][name], after[list][name]];
      const kind = old === undefined ? 'added' : young === undefined ? 'removed' : same(old, young) ? '' : 'changed';
      if (kind !== '') found.push({ item, name, kind, before: old, after: young });
    }
  }
  for (const name of Object.keys(after.tools)) {
    const [old, young] = [interfaceOf(before, name), interfaceOf(after, name)];
    const kind = old === undefined ? 'added' : young === undefined ? 'removed' : 'changed';
    if (!same(old ?? null, young ?? null)) found.push({ item: 'interface', name, kind, before: old, after: young });
  }
  const parts = { instructions: 'instructions', serverInfo: 'server_info', capabilities: 'capabilities' };
  for (const [member, item] of Object.entries(parts)) {
    const [old, young] = [before.opening[member], after.opening[member]];
    const kind = old === undefined ? 'added' : young === undefined ? 'removed' : 'changed';
    if (!same(old ?? null, young ?? null)) found.push({ item, name: '', kind, before: old, after: young });
  }
  return found;
}

// What libraries change by themselves, taken out wherever it stands.
export function withoutForm(value, key = '') {
  if (Array.isArray(value)) return value.map((item) => withoutForm(item));
  if (value === null || typeof value !== 'object') return value;
  const out = {};
  for (const [name, member] of Object.entries(value)) {
    const kept = withoutForm(member, name);
    const empty = kept !== null && typeof kept === 'object' && !Array.isArray(kept) && Object.keys(kept).length === 0;
    if (name === '$schema' || (name === 'additionalProperties' && member === true)) continue;
    if (name === 'required' && Array.isArray(member) && member.length === 0) continue;
    if (key === 'execution' && name === 'taskSupport' && member === 'forbidden') continue;
    if (key === 'annotations' && member === { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }[name]) continue;
    if ((name === 'execution' || name === 'annotations') && empty) continue;
    out[name] = kept;
  }
  return out;
}

const parameters = (tool) => tool.inputSchema?.properties ?? {};
const needs = (tool, name) => (tool.inputSchema?.required ?? []).includes(name);
const hint = (tool, name, missing) => tool.annotations?.[name] ?? missing;

// The words of docs/formats/diff.md that a change of a tool must show, as far as they can be told without any cleverness.
export function expectedWords(before, after) {
  const words = [];
  const at = (name) => `/inputSchema/properties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if ((before.description ?? null) !== (after.description ?? null)) words.push(['description_changed', '/description']);
  if ((before.title ?? null) !== (after.title ?? null)) words.push(['title_changed', '/title']);
  const [old, young] = [parameters(before), parameters(after)];
  for (const name of Object.keys(young)) {
    if (!(name in old)) words.push([needs(after, name) ? 'required_parameter_added' : 'parameter_added', at(name)]);
    else if (needs(before, name) !== needs(after, name)) {
      words.push([needs(after, name) ? 'parameter_became_required' : 'parameter_became_optional', '/inputSchema/required']);
    }
  }
  for (const name of Object.keys(old)) {
    if (!(name in young)) words.push(['parameter_removed', at(name)]);
    else {
      const [a, b] = [old[name], young[name]];
      for (const [plain, wide, word] of [[a, b, 'type_widened'], [b, a, 'type_narrowed']]) {
        if (!plain.anyOf && wide.anyOf?.some((branch) => same(branch, plain))) words.push([word, null]);
      }
      const plain = a && b && !a.$ref && !b.$ref && !a.anyOf && !b.anyOf;
      if (plain && a.description !== b.description) words.push(['parameter_text_changed', `${at(name)}/description`]);
      if (plain && typeof a.type === 'string' && typeof b.type === 'string' && a.type !== b.type) {
        words.push([[a.type, b.type].join() === 'integer,number' ? 'type_widened' : [a.type, b.type].join() === 'number,integer' ? 'type_narrowed' : 'type_changed', `${at(name)}/type`]);
      }
      if (plain && 'default' in a && 'default' in b && !same(a.default, b.default)) words.push(['default_changed', `${at(name)}/default`]);
      if (plain && Array.isArray(a.enum) && Array.isArray(b.enum)) {
        if (b.enum.some((value) => !a.enum.includes(value))) words.push(['enum_extended', `${at(name)}/enum`]);
        if (a.enum.some((value) => !b.enum.includes(value))) words.push(['enum_reduced', `${at(name)}/enum`]);
      }
    }
  }
  if (!before.outputSchema && after.outputSchema) words.push(['output_schema_added', '/outputSchema']);
  if (before.outputSchema && !after.outputSchema) words.push(['output_schema_removed', '/outputSchema']);
  const flips = [['readOnlyHint', false, 'read_only_hint'], ['destructiveHint', true, 'destructive_hint']];
  for (const [name, missing, word] of flips) {
    const [a, b] = [hint(before, name, missing), hint(after, name, missing)];
    if (a !== b) words.push([`${word}_${b ? 'gained' : 'lost'}`, null]);
  }
  return words;
}
