import { expect, it } from 'vitest';
import { list } from '../../src/cli/commands/list.js';
import { startFaultyProxy } from '../support/faulty-proxy.js';
import { answer } from '../support/faults.js';
import { couchUrl } from '../support/couch.js';
import { openProject } from './database.js';
import { tws } from './executable.js';
import { flow, run, task } from './terminal.js';

/** A plugin that tells how many of its attempts this process runs at the same time. */
const counting = {
  'plugins/count.mjs': `let running = 0;
    export default async ({ params }) => {
      running += 1;
      await new Promise((resolve) => setTimeout(resolve, params.ms ?? 0));
      return { most: running-- };
    };`,
};

/** A project with two databases, in which the same flow is stored. */
async function openTwo(address?: string) {
  const first = await openProject(counting);
  const second = await openProject();
  const { database: a } = first.store.connection;
  const { database: b } = second.store.connection;
  for (const { put } of [first, second]) {
    await put(
      { _id: 't', ...task('count', { plugin: 'count' }) },
      { _id: 'f', ...flow('f', ['count']) },
    );
  }
  const env = { ...first.env, ...(address === undefined ? {} : { COUCH_URL: address }) };
  const engine = (...more: readonly string[]) =>
    tws(['start', '--database', a, '--database', b, ...more], { cwd: first.root, env });
  return { first, second, a, b, env, engine };
}

const jobs = (prefix: string, count: number, ms: number) =>
  Array.from({ length: count }, (_, i) => ({
    ...{ _id: `${prefix}${i}`, type: 'job', flow: 'f', params: { count: { ms } } },
  }));

it('one process follows several databases, and its steps share the slots', async () => {
  const { first, second, a, b, engine } = await openTwo();
  const process = engine('--slots', '2');
  await process.prints(/follows[^]*follows/);
  // The second database gets slots while the first one has more jobs than it can run.
  await first.put(...jobs('a', 8, 300));
  await first.until('a0', ({ state }) => state === 'count-0' || state === '$$complete');
  await second.put(...jobs('b', 2, 50));
  await second.ended('b1');
  expect((await first.store.get('a7'))?.['state']).not.toBe('$$complete');
  const ended = await Promise.all(jobs('a', 8, 0).map(({ _id }) => first.ended(_id)));
  const results = ended.map(
    ({ steps }) => (steps[0] as { result?: { most: number } } | undefined)?.result,
  );
  for (const result of results) expect(result?.most).toBeLessThanOrEqual(2);
  for (const database of [a, b]) {
    const options = { cwd: first.root, env: { ...first.env, COUCH_DATABASE: database } };
    const shown = await run(list, { ...options, flags: { engines: true }, mode: 'json' });
    expect(shown.json).toMatchObject({ engines: [{ slots: 2 }] });
  }
  for (const line of process
    .err()
    .split('\n')
    .filter((it) => /follows/.test(it))) {
    expect([a, b]).toContain((JSON.parse(line) as { database: string }).database);
  }
  process.kill('SIGTERM');
  expect(await process.ended).toBe(0);
  for (const { store } of [first, second]) expect(await store.view('engines')).toEqual([]);
});

it('a database that goes away does not disturb the others', async () => {
  const proxy = await startFaultyProxy(new URL(couchUrl()).origin);
  const { first, second, b, engine } = await openTwo(proxy.url);
  const process = engine();
  await process.prints(/follows[^]*follows/);
  const away = answer(500, JSON.stringify({ error: 'unknown_error', reason: 'away' }));
  proxy.begin(away, ({ path }) => path.startsWith(`/${b}`));
  await first.put(...jobs('a', 3, 0));
  await Promise.all(jobs('a', 3, 0).map(({ _id }) => first.ended(_id)));
  proxy.heal();
  await second.put(...jobs('b', 1, 0));
  await second.ended('b0');
  process.kill('SIGTERM');
  expect(await process.ended).toBe(0);
});

it('a database that does not exist yet holds up no other', async () => {
  const { first, env, a } = await openTwo();
  const names = ['--database', `${a}_none`, '--database', a];
  const process = tws(['start', ...names], { cwd: first.root, env });
  await process.prints(/follows/);
  await first.put(...jobs('a', 1, 0));
  expect(await first.ended('a0')).toMatchObject({ exit: 0 });
  process.kill('SIGTERM');
  expect(await process.ended).toBe(0);
});

it('an engine that cannot start in one database stops no other, and gives the exit status', async () => {
  const { first, second, a, engine } = await openTwo();
  const other = tws(['start', '--name', 'x', '--database', a], { cwd: first.root, env: first.env });
  await other.prints(/follows/);
  const process = engine('--name', 'x');
  await process.prints(/engine_name_taken/);
  await second.put(...jobs('b', 1, 0));
  await second.ended('b0');
  process.kill('SIGTERM');
  expect(await process.ended).toBe(73);
  other.kill('SIGTERM');
  await other.ended;
});

it('an API serves one database, and other commands take one', async () => {
  const { first, engine, a, b, env } = await openTwo();
  const served = engine('--http', '127.0.0.1:0');
  expect(await served.ended).toBe(2);
  expect(served.err()).toContain('--http serves one database');
  const listed = tws(['list', '--jobs', '--database', a, '--database', b], {
    cwd: first.root,
    env,
  });
  expect(await listed.ended).toBe(2);
  expect(listed.err()).toContain('to tws start only');
});
