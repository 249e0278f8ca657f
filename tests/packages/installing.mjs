// SPDX-License-Identifier: Apache-2.0
// What holds for packages of every kind: installations that meet, or are cut off, and updates.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { fine, options, refused } from './world.mjs';

// `test(name, body)`: the body gets a world in which the registry has srv 1.0.0, which needs dep 1.0.0.
// `kind`: name of the kind, as launch.source has it
//   spelled(version)                  srv as launch.source spells it
//   publish(registry, version, tools) another srv
//   held                              what to put into registry.held so that dep's file is asked for and does not come
//   file                              how the address of dep's file ends
//   grow(registry)                    lets dep be more than half a megabyte
export async function installing(test, { kind, spelled, publish, held, file, grow }) {
  const write = (world, version) => world.write(`{${kind}: "${spelled(version)}"}`);

  await test('two installations at once wait for each other', async (world) => {
    write(world, '1.0.0');
    (await Promise.all([world.install(), world.install()])).forEach(fine);
    assert.equal(world.stored().length, 1);
    fine(await world.review());
    fine(await world.cordon('check', '--deep', world.policy));
  });

  for (const signal of ['SIGTERM', 'SIGKILL']) {
    await test(`an installation that ${signal} ends leaves the store as it was`, async (world, registry) => {
      write(world, '1.0.0');
      registry.held = held;
      const child = world.start('install', '--policy', world.policy);
      while (!registry.requests.some((request) => request.url.endsWith(file))) {
        await new Promise((resolve) => registry.server.once('request', () => setImmediate(resolve)));
      }
      child.kill(signal);
      const ended = await child.done;
      assert.ok(ended.status !== 0, ended.text);
      assert.deepEqual(world.stored().filter((name) => !name.startsWith('.new-')), []);
      registry.held = null;
      fine(await world.install());
      assert.equal(world.stored().length, 1);
    });
  }

  // Mounting takes root.
  if (process.getuid() !== 0) console.log('[skip] a full disk is named, and the store stays: not root');
  else await test('a full disk is named, and the store stays', async (world, registry) => {
    mkdirSync(world.data, { recursive: true });
    grow(registry);
    write(world, '1.0.0');
    // A mount namespace of its own, with a data folder of half a megabyte.
    const script = `mount -t tmpfs -o size=512k,mode=700 none ${world.data} && ${options.cordon} install --policy ${world.policy}; status=$?; ls -A ${world.data}/mcp-cordon/packages/${kind}; exit $status`;
    // Not synchronous: the registry is this very process.
    const child = world.program('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', script]);
    let listed = '';
    child.stdout.on('data', (data) => { listed += data; });
    child.stdin.end();
    const done = await child.done;
    assert.notEqual(done.status, 0, done.text);
    assert.match(done.text, /disk is full|No space left/);
    assert.equal(listed.trim(), '');
  });

  await test('an update counts once it is accepted, and a rollback goes back', async (world, registry) => {
    const update = (...version) => world.cordon('update', '--policy', world.policy, ...version, '--accept-all', '--reviewer', 't');
    write(world, '1.0.0');
    fine(await world.review());
    publish(registry, '1.1.0', ['one', 'two']);
    fine(await update());
    assert.ok(readFileSync(world.policy, 'utf8').includes(spelled('1.1.0')));
    assert.deepEqual(await world.tools(), ['one', 'two']);
    fine(await world.cordon('rollback', '--policy', world.policy));
    assert.ok(readFileSync(world.policy, 'utf8').includes(spelled('1.0.0')));
    await registry.stop();
    assert.deepEqual(await world.tools(), ['one']);
    fine(await world.cordon('rollback', '--policy', world.policy));
    assert.deepEqual(await world.tools(), ['one', 'two']);
    refused(await update('1.0.0'), 'cannot be reached');
    assert.deepEqual(await world.tools(), ['one', 'two']);
    await registry.start();
  });
}
