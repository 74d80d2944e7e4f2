import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWorkspace, type Ended, type Workspace } from '../../support/workspace.js';

const samples = join(import.meta.dirname, '..', '..', '..', 'couch', 'tws');

type Doc = Readonly<Record<string, unknown>>;

async function read(kind: string): Promise<readonly Doc[]> {
  const folder = join(samples, kind);
  const names = await readdir(folder);
  return Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Doc),
  );
}

/** A database with the shipped samples and two engines on it. */
async function withSamples(): Promise<Workspace> {
  const space = await openWorkspace();
  await space.put(...(await read('tasks')), ...(await read('flows')));
  await Promise.all([space.engine(), space.engine()]);
  return space;
}

async function run(space: Workspace, name: string, more: Doc = {}): Promise<Ended> {
  const job = JSON.parse(await readFile(join(samples, 'jobs', `${name}.json`), 'utf8')) as Doc;
  const [id] = await space.put({ ...job, ...more });
  return space.ended(String(id));
}

const pathsOf = (job: Ended): readonly unknown[] => job.steps.map((step) => step['path']);

describe('the samples, with two engines', () => {
  it('etl extracts, transforms beside each other, and loads', async () => {
    const space = await withSamples();
    expect(await run(space, 'etl')).toMatchObject({
      exit: 0,
      result: { total: 12, names: ['ANN', 'BOB', 'CLEO'], largest: 5 },
    });
  });

  it('batch calls back for success and for the end, or for failure and for the end', async () => {
    const space = await withSamples();
    const good = await run(space, 'batch');
    expect(good).toMatchObject({ exit: 0 });
    expect(pathsOf(good).slice(-2)).toEqual(['on_success', 'on_complete']);
    const bad = await run(space, 'batch', { params: { break: true } });
    expect(bad).toMatchObject({ exit: 2, failure: { name: 'Failed' } });
    expect(pathsOf(bad).slice(-2)).toEqual(['on_failure', 'on_complete']);
    expect(bad.steps.at(-2)?.['result']).toMatchObject({
      failed: { 0: { report: 'sales' }, 2: { failure: { name: 'Failed' } } },
    });
  });

  it('approval waits for a person and goes the way that one says', async () => {
    const space = await withSamples();
    const decide = (job: string, approved: boolean, by: string): Promise<unknown> =>
      space.put({ type: 'signal', job, name: 'decision', data: { approved }, by });
    await decide('yes', true, 'Ann');
    expect(await run(space, 'approval', { _id: 'yes' })).toMatchObject({
      exit: 0,
      result: { granted_by: 'Ann' },
    });
    const no = run(space, 'approval', { _id: 'no' });
    await space.until('no', (doc) => doc['state'] === 'approve-0');
    await decide('no', false, 'Bob');
    expect(await no).toMatchObject({ exit: 2, failure: { message: 'Bob said no.' } });
  });

  it('saga undoes the last booking first, and nothing when all went well', async () => {
    const space = await withSamples();
    const failed = await run(space, 'saga');
    expect(failed).toMatchObject({ exit: 2, failure: { name: 'NoCar' } });
    expect(pathsOf(failed)).toEqual(['0', '1', '2', '1.undo', '0.undo']);
    const well = await run(space, 'saga', { params: { car_available: true } });
    expect(well).toMatchObject({ exit: 0 });
    expect(pathsOf(well)).toEqual(['0', '1', '2']);
  });

  it('map works on 500 items, 20 at a time', async () => {
    const space = await withSamples();
    const ended = await run(space, 'map');
    expect(ended).toMatchObject({ exit: 0, result: 41_791_750 });
    const items = ended.steps.filter((step) => step['structure'] === undefined);
    expect(new Set(items.map((step) => step['path'])).size).toBe(500);
    expect(mostAtOnce(items)).toBeLessThanOrEqual(20);
  });

  it('decider starts two activities and a timer, and cancels the loser', async () => {
    const space = await withSamples();
    const ended = await run(space, 'decider');
    expect(ended).toMatchObject({ exit: 0, result: { done: ['left', 'right'] } });
    expect(ended.steps.find((step) => step['path'] === '0.timer.late')).toMatchObject({
      state: '$$cancelled',
    });
  });
});

/** How many of the steps ran at the same time. */
function mostAtOnce(steps: readonly Doc[]): number {
  const edges = steps.flatMap(({ start, end }) => [
    { at: Number(start), by: 1 },
    { at: Number(end), by: -1 },
  ]);
  let now = 0;
  let most = 0;
  for (const { by } of edges.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
