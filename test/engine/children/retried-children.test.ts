import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainJob } from '../../../src/client/explain-job.js';
import { requestJob } from '../../../src/client/requests.js';
import { flow } from '../../support/documents.js';
import { openWorkspace, type Ended } from '../../support/workspace.js';

const gate = `
import { existsSync } from 'node:fs';
export default ({ cwd }) => {
  if (!existsSync(cwd + '/open')) throw new Error('The gate is shut.');
  return 'through';
};`;

/** The same, and notes each of its runs. */
const counting = `
import { appendFileSync, existsSync } from 'node:fs';
export default ({ cwd }) => {
  appendFileSync(cwd + '/runs', 'run ');
  if (!existsSync(cwd + '/open')) throw new Error('The gate is shut.');
  return 'through';
};`;

const trailOf = ({ steps }: Ended): readonly string[] =>
  steps.map(({ task, attempt, state }) => `${String(task)}#${String(attempt)} ${state}`);

it('the retry of a job has its failed child jobs go on, over all generations', async () => {
  const space = await openWorkspace({ 'gate.mjs': gate, 'work.mjs': `export default () => 1;` });
  await space.put(
    ...['gate', 'work'].map((name) => ({ _id: `task:DEFAULT:${name}`, type: 'task', name })),
    flow('inner', ['work', 'gate'], { output: 'results.gate' }),
    flow('middle', ['work', { flow: 'inner' }], { output: 'results.inner' }),
    flow('outer', [{ flow: 'middle' }, 'work'], { output: 'results.middle' }),
  );
  await space.engine();
  await space.put({ _id: 'j', type: 'job', flow: 'outer', owner: 'me' });
  expect((await space.ended('j')).exit).toBe(2);
  await writeFile(join(space.folder, 'open'), '');
  await space.put({ type: 'request', job: 'j', action: 'retry' });
  const isAgain = (doc: Readonly<Record<string, unknown>>): boolean =>
    doc['state'] === '$$complete' && doc['run'] === 2;
  const endOf = async (id: string): Promise<Ended> => (await space.until(id, isAgain)) as Ended;
  const again = await endOf('j');
  expect(again).toMatchObject({ exit: 0, result: 'through' });
  expect(trailOf(again)).toEqual(['middle#1 $$error', 'middle#2 $$complete', 'work#1 $$complete']);
  expect(trailOf(await endOf('j:0:1'))).toEqual([
    'work#1 $$complete',
    'inner#1 $$error',
    'inner#2 $$complete',
  ]);
  expect(trailOf(await endOf('j:0:1:1:1'))).toEqual([
    'work#1 $$complete',
    'gate#1 $$error',
    'gate#2 $$complete',
  ]);
});

describe('a child that is retried by itself after its parent has failed', () => {
  const gates = { map: { over: [1, 2, 3, 4], slice: 2, do: 'gate' }, name: 'work' };

  it.each<[string, unknown, readonly string[], unknown]>([
    ['flow', { flow: 'inner', name: 'work' }, ['j:0:1'], 'through'],
    ['slice of a map', gates, ['j:0.slice.0:1', 'j:0.slice.1:1'], Array(4).fill('through')],
  ])('leaves the parent as it is, whose retry takes its result: %s', async (...given) => {
    const [, task, children, result] = given;
    const space = await openWorkspace({ 'gate.mjs': counting });
    await space.put(
      { _id: 'task:DEFAULT:gate', type: 'task', name: 'gate' },
      flow('inner', ['gate'], { output: 'results.gate' }),
      flow('outer', [task], { output: 'results.work' }),
    );
    await space.engine();
    await space.put({ _id: 'j', type: 'job', flow: 'outer', owner: 'me' });
    const failed = await space.ended('j');
    expect(failed.exit).toBe(2);
    await writeFile(join(space.folder, 'open'), '');
    const { store } = space;
    for (const child of children) {
      const retried = await requestJob(store, child, 'retry', { waitMs: 60_000 });
      expect(retried).toMatchObject({
        kind: 'applied',
        notice: expect.stringContaining('`tws retry j`') as unknown,
      });
      await space.until(child, ({ state, exit }) => state === '$$complete' && exit === 0);
    }
    expect(await store.get('j')).toEqual(failed);
    const { reasons } = await explainJob(store, children[0] ?? '');
    expect(reasons.map(({ kind }) => kind)).toEqual(['ended', 'parent']);
    const runs = await readFile(join(space.folder, 'runs'), 'utf8');
    const again = await requestJob(store, 'j', 'retry', { waitMs: 60_000 });
    expect(again).not.toHaveProperty('notice');
    const ended = await space.until('j', ({ state, run }) => state === '$$complete' && run === 2);
    expect(ended).toMatchObject({ exit: 0, result });
    expect(await readFile(join(space.folder, 'runs'), 'utf8')).toBe(runs);
    expect((await explainJob(store, children[0] ?? '')).reasons).toHaveLength(1);
  });
});
