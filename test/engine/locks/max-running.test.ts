import { describe, expect, it } from 'vitest';
import { explainJob } from '../../../src/client/explain-job.js';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace, type Ended, type Workspace } from '../../support/workspace.js';

const slow = `import { setTimeout as sleep } from 'node:timers/promises';
export default async ({ params, signal }) => {
  await sleep(params.ms ?? 20, undefined, { signal });
};`;

const begun = (doc: Record<string, unknown>): boolean =>
  Array.isArray(doc['steps']) && doc['steps'].length > 0;

/** The most of these jobs that ran at the same time, from their first claim to their last end. */
function mostAtOnce(jobs: readonly Ended[]): number {
  const moments = jobs.flatMap(({ steps, end }) => [
    { at: Number(steps[0]?.['accepted']), by: 1 },
    { at: Number(end), by: -1 },
  ]);
  let [now, most] = [0, 0];
  for (const { by } of moments.toSorted((a, b) => a.at - b.at || a.by - b.by)) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}

async function ready(max: number, more: Record<string, unknown> = {}): Promise<Workspace> {
  const space = await openWorkspace({ 'slow.mjs': slow });
  await space.put(task('slow'), flow('f', ['slow', 'slow'], { max_running: max, ...more }));
  return space;
}

/** Waits until an engine has found that the job gets no permit yet. */
const parked = (space: Workspace, id: string) =>
  space.logged(
    ({ about, message }) => about['job'] === id && message.startsWith('All permits'),
    20_000,
  );

describe('a flow with max_running', () => {
  // Shows C-11.
  it.each([1, 3])('U6: has %d of its jobs run at the same time, whoever runs them', async (max) => {
    const space = await ready(max);
    await Promise.all([space.engine(), space.engine(), space.engine()]);
    const ids = await space.put(
      ...Array.from({ length: 24 }, () => job('f', { params: { slow: { ms: 50 } } })),
    );
    const jobs = await Promise.all(ids.map((id) => space.ended(id)));
    expect(jobs.map(({ exit }) => exit)).toEqual(jobs.map(() => 0));
    expect(mostAtOnce(jobs)).toBeLessThanOrEqual(max);
    expect(mostAtOnce(jobs)).toBeGreaterThan(max === 1 ? 0 : 1);
    await expect.poll(() => space.store.view('locks')).toEqual([]);
  });

  it('keeps its permit while it waits, and hands it on when it is cancelled', async () => {
    const space = await ready(1, { tasks: [{ wait: { signal: 'go' } }, 'slow'] });
    await space.engine();
    await space.put(job('f', { _id: 'first' }));
    await space.until('first', begun);
    await space.put(job('f', { _id: 'second' }));
    await parked(space, 'second');
    expect(begun((await space.store.get('second')) ?? {})).toBe(false);
    await space.put({ type: 'request', action: 'cancel', job: 'first' });
    await space.until('second', begun);
  });

  it('takes the job of lower priority first, then the older one', async () => {
    const space = await ready(1);
    await space.put(job('f', { _id: 'a', params: { slow: { ms: 600_000 } } }));
    await space.engine();
    await space.until('a', begun);
    await space.put(job('f', { _id: 'b' }));
    await parked(space, 'b');
    await space.put(job('f', { _id: 'c' }));
    await parked(space, 'c');
    await space.put(job('f', { _id: 'd', priority: 1 }));
    await parked(space, 'd');
    await space.put({ type: 'request', action: 'cancel', job: 'a' });
    const jobs = await Promise.all(['a', 'd', 'b', 'c'].map((id) => space.ended(id)));
    const starts = jobs.map(({ steps }) => Number(steps[0]?.['accepted']));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  it.each([
    [2, 1],
    [3, 1],
    [2, 4],
  ])('U7: keeps that order with %d engines and %d permits', async (count, max) => {
    const space = await ready(max);
    const blockers = Array.from({ length: max }, (_, i) => `blocker-${i}`);
    await space.put(
      ...blockers.map((_id) => job('f', { _id, priority: 0, params: { slow: { ms: 600_000 } } })),
    );
    const engines = await Promise.all(Array.from({ length: count }, () => space.engine()));
    for (const id of blockers) await space.until(id, begun);
    const priorities = [5, 3, 5, 1, 4, 3, 2, 5, 1, 2, 4, 3, 1, 5, 2, 4];
    const ids: string[] = [];
    for (const [i, priority] of priorities.entries()) {
      const [id = ''] = await space.put(job('f', { _id: `job-${i}`, priority }));
      ids.push(id);
    }
    for (const { id: engine } of engines) {
      for (const id of ids) {
        await space.logged(({ about }) => about['job'] === id && about['engine'] === engine);
      }
    }
    await space.put(...blockers.map((id) => ({ type: 'request', action: 'cancel', job: id })));
    const jobs = await Promise.all(ids.map((id) => space.ended(id)));
    const wanted = jobs
      .toSorted((a, b) => Number(a['priority']) - Number(b['priority']))
      .map(({ _id }) => _id);
    const starts = jobs.map((one) => ({ id: one._id, at: Number(one['start']) }));
    const order = starts.toSorted((a, b) => a.at - b.at).map(({ id }) => id);
    // With several permits free at once, jobs of neighbouring places may begin in any order.
    order.forEach((id, place) => {
      expect(Math.abs(wanted.indexOf(id) - place), `${id} in ${order.join(' ')}`).toBeLessThan(max);
    });
  });

  it('explains through the stored view that a job waits for a permit', async () => {
    const space = await ready(1, { tasks: [{ wait: { signal: 'go' } }] });
    await space.engine();
    await space.put(job('f', { _id: 'first' }));
    await space.until('first', begun);
    await space.put(job('f', { _id: 'second' }));
    await parked(space, 'second');
    const { reasons } = await explainJob(space.store, 'second');
    expect(reasons).toMatchObject([{ kind: 'full' }]);
    expect(reasons[0]?.because).toContain('now: first');
    expect(await space.store.view('locks', { key: ['permit', 'f::me'] })).toMatchObject([
      { value: { job: 'first' } },
    ]);
  });

  it('has more jobs begin when the number is raised', async () => {
    const space = await ready(1, { tasks: [{ wait: { signal: 'go' } }] });
    await space.engine();
    const ids = await space.put(job('f'), job('f'), job('f'));
    const count = async () => (await space.store.view('locks')).length;
    await expect.poll(count).toBe(1);
    const stored = await space.store.get('flow:me:f');
    await space.store.write({ ...stored, _id: 'flow:me:f', max_running: 3 });
    for (const id of ids) await space.until(id, begun);
    expect(await count()).toBe(3);
  });

  it('asks for a permit again when it goes on after its end', async () => {
    const space = await ready(1, { tasks: [{ wait: { signal: 'go' } }] });
    await space.engine();
    await space.put(job('f', { _id: 'first' }));
    await space.until('first', begun);
    await space.put({ type: 'request', action: 'cancel', job: 'first' });
    await space.ended('first');
    await space.put(job('f', { _id: 'second' }));
    await space.until('second', begun);
    await space.put({ type: 'request', action: 'retry', job: 'first' });
    await space.until('first', ({ run }) => run === 2);
    await parked(space, 'first');
    expect(await space.store.get('first')).toMatchObject({ steps: [{}] });
    await space.put({ type: 'signal', job: 'second', name: 'go' });
    await space.until('first', ({ steps = [] }) => (steps as unknown[]).length === 2);
    expect((await space.store.view('locks')).map(({ value }) => value.job)).toEqual(['first']);
  });

  it('gives back the permit of a job that was removed, and of one whose engine is gone', async () => {
    const space = await ready(1, { tasks: [{ wait: { signal: 'go' } }] });
    const engine = await space.engine({ sweepMs: 300 });
    await space.put(job('f', { _id: 'first' }));
    const { _rev } = await space.until('first', begun);
    await space.put(job('f', { _id: 'second' }));
    await space.store.remove('first', String(_rev));
    await space.until('second', begun);
    await engine.stop();
    await space.put(
      { type: 'request', action: 'cancel', job: 'second' },
      job('f', { _id: 'third' }),
    );
    await space.engine();
    await space.until('third', begun);
  });

  it('leaves other flows alone, and slices of a map to their job', async () => {
    const items = Array.from({ length: 6 }, (_, i) => i);
    const space = await ready(1, {
      tasks: [{ map: { over: '$params.items', do: 'slow', slice: 2 } }],
      params: { items },
    });
    await space.put(flow('g', ['slow']));
    await Promise.all([space.engine(), space.engine()]);
    const ids = await space.put(job('f'), job('f'), job('g'));
    for (const id of ids) expect(await space.ended(id)).toMatchObject({ exit: 0 });
  });
});

describe('limits by key', () => {
  // Shows X-19.
  it('hold on two engines, shared by a flow and a task, and are explained', async () => {
    const space = await openWorkspace({ 'slow.mjs': slow });
    const limit = { name: 'customer', key: 'params.customer', limit: 1 };
    await space.put(
      task('slow'),
      task('shared', { owner: 'me', plugin: 'slow', concurrency: limit }),
      flow('f', ['slow'], { concurrency: limit }),
      flow('g', ['shared']),
    );
    await space.put(job('f', { _id: 'first', params: { customer: 'a', slow: { ms: 600_000 } } }));
    await Promise.all([space.engine(), space.engine()]);
    await space.until('first', begun);
    const of = (customer: string) => ({ params: { customer, shared: { customer, ms: 20 } } });
    const [same = ''] = await space.put(job('g', of('a')));
    await parked(space, same);
    const [other = ''] = await space.put(job('g', of('b')));
    expect(await space.ended(other)).toMatchObject({ exit: 0 });
    const { reasons } = await explainJob(space.store, same);
    expect(reasons[0]).toMatchObject({
      kind: 'full',
      because:
        'The only permit of limit customer for "a" is taken; now: first. No other job is in line for it.',
      todo: 'It goes on when one of them is given back; see `tws explain first`.',
    });
    await space.put({ type: 'request', action: 'cancel', job: 'first' });
    expect(await space.ended(same)).toMatchObject({ exit: 0 });
    await expect.poll(() => space.store.view('locks')).toEqual([]);
  });
});
