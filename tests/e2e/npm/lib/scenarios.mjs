// SPDX-License-Identifier: Apache-2.0
// What is done with each real server, the same without and with the proxy: each `record` gives plain values.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EmptyResultSchema, ListPromptsResultSchema, ListResourcesResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { MODERN } from './clients.mjs';
import { assert } from './runner.mjs';
import { assertMethodRefused, assertRefused, assertUnknownTool, withoutOurMeta } from './results.mjs';

// Times of day and dates differ from run to run.
const steady = (value) =>
  JSON.parse(
    JSON.stringify(value)
      .replace(/\d{1,2}:\d{2}:\d{2}( [AP]M)?/g, 'TIME')
      .replace(/\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{4}\b/g, 'DATE')
      .replace(/\b\d{4}-\d{2}-\d{2}TTIME\.\d+Z/g, 'DATE'),
  );

export async function callAll(session, calls) {
  const outcomes = {};
  for (const [label, name, args, options] of calls) {
    outcomes[label] = steady(await session.tryCall(name, args, options));
  }
  return outcomes;
}

export async function recordBasics(session) {
  return {
    server: session.client.getServerVersion(),
    instructions: session.client.getInstructions(),
    capabilities: session.client.getServerCapabilities(),
    tools: await session.tools(),
  };
}

export async function recordProgress(session, tool, args) {
  const seen = [];
  const outcome = await session.tryCall(tool, args, {
    // The last step may come together with the result, and clients then drop it.
    onprogress: ({ progress, total }) => void (progress < total && seen.push([progress, total])),
  });
  return { seen, outcome };
}

// Cancels after the first step; afterwards the session must still work.
export async function recordCancellation(session, tool, args) {
  const abort = new AbortController();
  const started = Date.now();
  const outcome = await session.tryCall(tool, args, {
    signal: abort.signal,
    onprogress: () => abort.abort('no longer needed'),
  });
  return { cancelled: Boolean(outcome.error), soon: Date.now() - started < 10_000 };
}

// Prompts and resources, by their lists and by use.
export async function recordItems(session) {
  const offered = session.client.getServerCapabilities();
  const seen = {};
  if (offered.prompts) {
    const { prompts } = await session.client.listPrompts();
    seen.prompts = prompts;
    seen.got = {};
    for (const prompt of prompts) {
      const given = Object.fromEntries((prompt.arguments ?? []).map(({ name }) => [name, '1']));
      seen.got[prompt.name] = steady(await session.outcome(session.client.getPrompt({ name: prompt.name, arguments: given })));
    }
  }
  if (offered.resources) {
    const { resources } = await session.client.listResources();
    seen.resources = resources;
    seen.read = {};
    for (const { uri } of resources.slice(0, 5)) {
      seen.read[uri] = steady(await session.outcome(session.client.readResource({ uri })));
    }
    seen.templates = (await session.client.listResourceTemplates()).resourceTemplates;
  }
  return withoutOurMeta(seen);
}

// Asks for what is not offered. Requests are made by hand: clients do not send what is not declared.
export async function recordOtherMethods(session) {
  const offered = session.client.getServerCapabilities();
  const request = (method, params, schema) =>
    session.outcome(
      session.generation === 1
        ? session.client.request({ method, params }, schema)
        : session.client.request({ method, params }),
    );
  const outcomes = {};
  if (!offered.prompts) outcomes['prompts/list'] = await request('prompts/list', {}, ListPromptsResultSchema);
  if (!offered.resources) outcomes['resources/list'] = await request('resources/list', {}, ListResourcesResultSchema);
  if (session.era !== MODERN && !offered.resources?.subscribe) {
    outcomes['resources/subscribe'] = await request('resources/subscribe', { uri: 'demo://x' }, EmptyResultSchema);
  }
  return outcomes;
}

const toFiles = (dir, files) => {
  rmSync(dir, { recursive: true, force: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    writeFileSync(path.join(dir, name), content);
  }
};

const everything = {
  name: 'everything',
  args: () => [],
  async record(session) {
    const basics = await recordBasics(session);
    // Before a tool adds resources of this session, which nobody reviewed.
    const items = await recordItems(session);
    const calls = await callAll(session, [
      ['echo', 'echo', { message: 'h\u00e9 "quoted" \u2028 \\ \n \u{1f600}' }],
      ['sum', 'get-sum', { a: 0.1, b: -0 }],
      ['structured', 'get-structured-content', { location: 'Chicago' }],
      ['image', 'get-tiny-image'],
      ['annotated', 'get-annotated-message', { messageType: 'error', includeImage: true }],
      ['links', 'get-resource-links', { count: 3 }],
      ['reference', 'get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
      ['wrong arguments', 'get-sum', { a: 'one' }],
      ['unknown tool', 'no-such-tool'],
      ['environment', 'get-env'],
      ['fetch', 'gzip-file-as-resource', { data: 'data:,hello', name: 'x.gz', outputType: 'resource' }],
      ['ask', 'trigger-elicitation-request'],
    ]);
    await session.client.ping();
    await session.client.setLoggingLevel('debug');
    const before = session.logs.length;
    const toggled = await session.tryCall('toggle-simulated-logging');
    await session.until(() => session.logs.length > before, 'a log message');
    const log = session.logs.at(-1);
    assert.match(log.data, /^(\w+-level message|\w+ level-message)$/);
    return {
      basics,
      calls,
      toggled: Boolean(toggled.result && !toggled.result.isError),
      logLevelKnown: typeof log.level === 'string',
      progress: await recordProgress(session, 'trigger-long-running-operation', { duration: 0.3, steps: 3 }),
      cancellation: await recordCancellation(session, 'trigger-long-running-operation', { duration: 20, steps: 40 }),
      after: await session.tryCall('echo', { message: 'still here' }),
      items,
      others: await recordOtherMethods(session),
    };
  },
  special: {
    'unknown tool': assertUnknownTool,
    environment: assertUnknownTool, // hidden by the shipped policy
    // Whoever plays the client says no to every question.
    fetch: (outcome) => assertRefused(outcome, 'confirmation_declined'),
  },
  hidden: ['get-env'],
};

const memory = {
  name: 'memory',
  args: () => [],
  environment: (home) => ({ MEMORY_FILE_PATH: path.join(home, 'memory.jsonl') }),
  async record(session) {
    const basics = await recordBasics(session);
    const calls = await callAll(session, [
      [
        'create',
        'create_entities',
        {
          entities: [
            { name: 'Ada', entityType: 'person', observations: ['wrote notes'] },
            { name: 'Engine', entityType: 'machine', observations: [] },
          ],
        },
      ],
      ['relate', 'create_relations', { relations: [{ from: 'Ada', to: 'Engine', relationType: 'describes' }] }],
      ['observe', 'add_observations', { observations: [{ entityName: 'Ada', contents: ['born 1815'] }] }],
      ['graph', 'read_graph'],
      ['search', 'search_nodes', { query: 'machine' }],
      ['open', 'open_nodes', { names: ['Ada'] }],
      ['missing', 'add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] }],
      ['wrong arguments', 'search_nodes', { query: 7 }],
      ['unknown tool', 'no-such-tool'],
      ['delete', 'delete_entities', { entityNames: ['Engine'] }],
    ]);
    await session.client.ping();
    return { basics, calls, others: await recordOtherMethods(session) };
  },
  special: {
    'unknown tool': assertUnknownTool,
    delete: (outcome) => assertRefused(outcome, 'tool_blocked'),
  },
};

const filesystem = {
  name: 'filesystem',
  args: (dir) => [dir],
  grants: (dir) => ({ read: [dir] }),
  prepare(dir) {
    toFiles(dir, {
      'notes.txt': 'first line\nsecond line\nthird: \u00e9 \u{1f600}\n',
      'sub/deep/data.json': '{"a": 1}\n',
      'sub/picture.png': Buffer.from('89504e470d0a1a0a', 'hex'),
      'big.txt': 'All work and no play makes a dull test.\n'.repeat(50_000),
    });
  },
  async record(session, dir) {
    const basics = await recordBasics(session);
    const at = (name) => path.join(dir, name);
    const calls = await callAll(session, [
      ['allowed', 'list_allowed_directories'],
      ['read', 'read_text_file', { path: at('notes.txt') }],
      ['head', 'read_text_file', { path: at('notes.txt'), head: 1 }],
      ['old read', 'read_file', { path: at('notes.txt') }],
      ['media', 'read_media_file', { path: at('sub/picture.png') }],
      ['many', 'read_multiple_files', { paths: [at('notes.txt'), at('sub/deep/data.json'), at('gone')] }],
      ['list', 'list_directory', { path: dir }],
      ['sizes', 'list_directory_with_sizes', { path: dir, sortBy: 'size' }],
      ['tree', 'directory_tree', { path: dir }],
      ['search', 'search_files', { path: dir, pattern: '**/*.json' }],
      ['info', 'get_file_info', { path: at('notes.txt') }],
      ['big', 'read_text_file', { path: at('big.txt') }],
      ['missing', 'read_text_file', { path: at('gone') }],
      ['outside', 'read_text_file', { path: '/etc/passwd' }],
      ['wrong arguments', 'read_text_file', { path: 7 }],
      ['unknown tool', 'no-such-tool'],
      ['make', 'create_directory', { path: at('new') }],
      ['write', 'write_file', { path: at('notes.txt'), content: 'gone' }],
      ['edit', 'edit_file', { path: at('notes.txt'), edits: [{ oldText: 'first', newText: '1st' }] }],
    ]);
    await session.client.ping();
    return {
      basics,
      calls,
      // Through the shipped policy nothing was written, whatever the server was asked for.
      unchanged: readFileSync(at('notes.txt'), 'utf8').startsWith('first line'),
    };
  },
  special: {
    'unknown tool': assertUnknownTool,
    make: (outcome) => assertRefused(outcome, 'confirmation_declined'),
    write: (outcome) => assertRefused(outcome, 'tool_blocked'),
    edit: (outcome) => assertRefused(outcome, 'tool_blocked'),
  },
};

const sequentialThinking = {
  name: 'sequential-thinking',
  args: () => [],
  async record(session) {
    const basics = await recordBasics(session);
    const thought = (thoughtNumber, more = {}) => ({
      thought: `step ${thoughtNumber}`,
      nextThoughtNeeded: thoughtNumber < 3,
      thoughtNumber,
      totalThoughts: 3,
      ...more,
    });
    const calls = await callAll(session, [
      ['one', 'sequentialthinking', thought(1)],
      ['two', 'sequentialthinking', thought(2)],
      ['branch', 'sequentialthinking', thought(2, { branchFromThought: 1, branchId: 'b' })],
      ['revision', 'sequentialthinking', thought(3, { isRevision: true, revisesThought: 1 })],
      ['wrong arguments', 'sequentialthinking', { thought: 1 }],
      ['unknown tool', 'no-such-tool'],
    ]);
    await session.client.ping();
    return { basics, calls };
  },
  special: { 'unknown tool': assertUnknownTool },
};

export const SCENARIOS = [everything, filesystem, memory, sequentialThinking];

// Compares two recordings of one scenario: the one through the proxy follows from the direct one.
export function assertRecording(scenario, seen, direct, { assertBasics, assertCalls, assertMethods = true }) {
  assertBasics(seen.basics, direct.basics);
  assertCalls(seen.calls, direct.calls, scenario.special);
  const { basics, calls, others, unchanged, ...rest } = seen;
  for (const [key, value] of Object.entries(rest)) assert.deepEqual(value, direct[key], key);
  if (unchanged !== undefined) assert.equal(unchanged, true, 'the file was written');
  if (others && assertMethods) for (const outcome of Object.values(others)) assertMethodRefused(outcome);
}

