// SPDX-License-Identifier: Apache-2.0
// Holds a report of mcp-cordon against the naive differences: nothing missing, nothing invented, the right kind.
import { expectedWords, same, withoutForm } from './naive.mjs';

const CATALOG = new Set(['tool', 'prompt', 'resource', 'resource_template', 'interface', 'instructions', 'server_info', 'capabilities']);

function kindFault(difference, change) {
  const { kind } = difference;
  if (kind === 'added') return change.kind === 'added' || (change.kind === 'renamed' && change.name === difference.name);
  if (kind === 'removed') return change.kind === 'removed' || (change.kind === 'renamed' && change.old_name === difference.name);
  if (difference.item === 'interface') return change.kind === 'changed';
  if (!same(withoutForm(difference.before), withoutForm(difference.after))) return change.kind === 'changed';
  // A dialect that means something else is more than form; so is form where a reference leads into it.
  return change.kind === 'cosmetic' || change.places.some((place) => ['dialect_changed', 'schema_changed'].includes(place.what));
}

function wordFaults(difference, change) {
  const faults = [];
  const has = (word, pointer) => change.places.some((place) => place.what === word && (pointer === null || place.pointer === pointer));
  const words = expectedWords(difference.before, difference.after);
  if (change.omitted_places > 0) return { faults, count: 0 };
  for (const [word, pointer] of words) {
    if (!has(word, pointer)) faults.push(`${difference.name}: ${word} at ${pointer} is not reported (${change.places.map((place) => `${place.what} ${place.pointer}`).join(', ').slice(0, 400)})`);
  }
  const told = new Set(words.map(([word]) => word));
  for (const place of change.places) {
    const top = /^\/inputSchema\/properties\/[^/]+$/.test(place.pointer);
    const invented = ((place.what === 'parameter_added' || place.what === 'required_parameter_added' || place.what === 'parameter_removed') && top && !told.has(place.what)) ||
      ((place.what === 'description_changed' || place.what.startsWith('read_only_hint') || place.what.startsWith('destructive_hint')) && !told.has(place.what));
    if (invented) faults.push(`${difference.name}: ${place.what} at ${place.pointer} is reported and not there`);
  }
  return { faults, count: words.length };
}

export function judge(naive, report, text, before, after) {
  const faults = [];
  let checked = 0;
  const changes = report.changes.filter((change) => CATALOG.has(change.item));
  const used = new Set();
  for (const difference of naive) {
    const change = changes.find((one) => one.item === difference.item &&
      (one.name === difference.name || (difference.kind === 'removed' && one.old_name === difference.name)));
    if (change === undefined) {
      faults.push(`${difference.item} ${difference.name} (${difference.kind}) is not reported`);
      continue;
    }
    used.add(change);
    checked += 1;
    if (!kindFault(difference, change)) {
      faults.push(`${difference.item} ${difference.name}: ${difference.kind} is reported as ${change.kind}: ${change.places.map((place) => `${place.what} ${place.pointer}`).join(', ').slice(0, 300)}`);
    }
    if (difference.item === 'tool' && change.kind === 'changed') {
      const words = wordFaults(difference, change);
      faults.push(...words.faults);
      checked += words.count;
    }
    if (difference.name !== '' && !text.includes(difference.name)) faults.push(`${difference.name} is not named in the text report`);
  }
  for (const change of changes) {
    if (!used.has(change)) faults.push(`${change.item} ${change.name} is reported as ${change.kind} and does not differ`);
  }
  return { faults, checked };
}
