import { describe, expect, it } from 'vitest';
import { slotJobId, slotJobPrefix, type ScheduleProgress } from '../../../src/model/schedule.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { flow, task } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

const plugins = {
  'quick.js': 'export default () => ({ done: true });',
  'slow.js': `
import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
export default async ({ cwd, signal }) => {
  const isOpen = () => access(cwd + '/open').then(() => true, () => false);
  while (!signal.aborted && !(await isOpen())) await sleep(10);
};`,
};

const definitions = [
  task('quick'),
  task('slow', { timeout: 0 }),
  flow('tick', ['quick']),
  flow('wait', ['slow'], { timeout: 0 }),
];

const id = 'schedule:me:s';
const schedule = (more: object) => ({
  ...{ _id: id, type: 'schedule', name: 's', owner: 'me', flow: 'tick' },
  ...more,
});

function progressOf(doc: StoredDocument): ScheduleProgress | undefined {
  return doc['progress'] as ScheduleProgress | undefined;
}

async function jobsOf({ store }: Workspace): Promise<readonly StoredDocument[]> {
  return store.range(slotJobPrefix(id));
}

async function opened(more: object, engines = 1): Promise<Workspace> {
  const workspace = await openWorkspace(plugins);
  await workspace.put(...definitions);
  for (let i = 0; i < engines; i += 1) await workspace.engine({ drainMs: 100 });
  await workspace.put(schedule(more));
  return workspace;
}

it('tells its meters of slots, and its log what was missed or cannot be followed', async () => {
  const workspace = await openWorkspace(plugins);
  const slots: string[] = [];
  const meters = {
    slots: (verdict: string, count: number) => void slots.push(`${verdict} ${count}`),
    slotDelay: () => void slots.push('delay'),
  };
  await workspace.put(...definitions);
  const hour = 3_600_000;
  const now = Date.now();
  const progress = { edition: 1, timing: '{"every":3600000}', handled: now - 10.5 * hour };
  const counts = { started: 0, skipped: 0, missed: 0, recent: [] };
  const due = { next_due: now - hour, progress: { ...progress, ...counts } };
  await workspace.put(schedule({ every: hour, ...due }));
  await workspace.put({ ...schedule({ cron: 'x' }), _id: 'schedule:me:t', name: 't' });
  await workspace.engine({ meters });
  await workspace.logged(({ message }) => message.includes('No engine acted on'));
  await workspace.logged(({ message }) =>
    message.startsWith('Schedule schedule:me:t cannot be followed: cron must have 5 or 6 fields'),
  );
  expect(slots.sort()).toEqual(['delay', expect.stringMatching(/^missed (9|10)$/), 'started 1']);
});

describe('a schedule', () => {
  // Shows X-16.
  it('starts one job a slot, with three engines', async () => {
    const workspace = await opened({ every: 1_000, count: 4, params: { quick: { a: 1 } } }, 3);
    const doc = await workspace.until(id, (it) => progressOf(it)?.started === 4);
    const jobs = await expect
      .poll(async () => (await jobsOf(workspace)).filter(({ exit }) => exit === 0))
      .toHaveLength(4)
      .then(() => jobsOf(workspace));
    const slots = jobs.map(({ schedule: of }) => (of as { slot: number }).slot);
    expect(slots.map((slot) => slot - (slots[0] ?? 0))).toEqual([0, 1_000, 2_000, 3_000]);
    expect(jobs[0]).toMatchObject({ flow: 'tick', owner: 'me', params: { quick: { a: 1 } } });
    const recent = progressOf(doc)?.recent ?? [];
    expect(recent.map(({ kind, job }) => [kind, job])).toEqual(
      jobs.map(({ _id }) => ['started', _id]),
    );
    const ended = await workspace.until(id, (it) => progressOf(it)?.starting === undefined);
    expect(ended['next_due']).toBeUndefined();
  });

  it('that is stored while no engine runs is taken up by the next one', async () => {
    const workspace = await openWorkspace(plugins);
    await workspace.put(...definitions, schedule({ at: [Date.now() - 5_000] }));
    await workspace.engine({ drainMs: 100 });
    await workspace.until(id, (it) => progressOf(it)?.started === 1);
    await expect.poll(() => jobsOf(workspace)).toHaveLength(1);
  });

  it('skips the slots of a job that has not ended', async () => {
    const workspace = await opened({ flow: 'wait', every: 1_000 });
    const doc = await workspace.until(id, (it) => (progressOf(it)?.skipped ?? 0) >= 2);
    const [first, second] = progressOf(doc)?.recent ?? [];
    expect(second?.because).toBe(`Job ${first?.job ?? ''} had not ended.`);
    expect(await jobsOf(workspace)).toHaveLength(1);
  });

  it('lets one slot wait, and starts it when the job before has ended', async () => {
    const workspace = await opened({ flow: 'wait', every: 1_000, overlap: 'one', count: 2 });
    await workspace.until(id, (it) => progressOf(it)?.waiting !== undefined);
    const [first] = await jobsOf(workspace);
    await workspace.put({ type: 'request', job: first?._id, action: 'cancel' });
    const doc = await workspace.until(id, (it) => progressOf(it)?.started === 2);
    expect(progressOf(doc)?.waiting).toBeUndefined();
  });

  it('cancels the job that runs when it says so', async () => {
    const every = { flow: 'wait', every: 1_000, overlap: 'cancel_running', count: 2 };
    const workspace = await opened(every);
    await workspace.until(id, (it) => progressOf(it)?.started === 2);
    const [first] = await jobsOf(workspace);
    const ended = await workspace.ended(first?._id ?? '');
    expect(ended).toMatchObject({ exit: 130, cancel: { by: id } });
  });

  it('starts nothing while it is paused, and makes nothing up when it goes on', async () => {
    const workspace = await opened({ every: 1_000, paused: true });
    await workspace.until(id, (it) => progressOf(it) !== undefined);
    // Another one goes on beside it meanwhile.
    const other = { ...schedule({ every: 1_000 }), _id: 'schedule:me:other', name: 'other' };
    await workspace.put(other);
    await workspace.until(other._id, (it) => (progressOf(it)?.started ?? 0) >= 2);
    expect(await jobsOf(workspace)).toEqual([]);
    const { paused, ...doc } = (await workspace.store.get(id)) as StoredDocument;
    expect(paused).toBe(true);
    await workspace.store.write({ ...doc, count: 1 });
    const after = await workspace.until(id, (it) => progressOf(it)?.started === 1);
    expect(progressOf(after)).toMatchObject({ skipped: 0, missed: 0 });
  });

  it('that cannot be followed says so in its document, and goes on when it is mended', async () => {
    const workspace = await opened({ cron: '99 * * * *' });
    const doc = await workspace.until(id, (it) => Array.isArray(it['problems']));
    expect(doc['problems']).toEqual([
      {
        path: 'cron',
        message: 'cron is no cron expression: Invalid value for minute: 99.',
      },
    ]);
    await workspace.store.write({ ...doc, cron: '* * * * * *', count: 1 });
    const mended = await workspace.until(id, (it) => progressOf(it)?.started === 1);
    expect(mended['problems']).toBeUndefined();
  });

  it('that is no schedule at all says so in its document', async () => {
    const workspace = await opened({ every: 1_000, cron: '* * * * *', progress: 5 });
    const doc = await workspace.until(id, (it) => Array.isArray(it['problems']));
    expect(doc['problems']).toEqual([
      { path: 'progress', message: 'progress must be left to the engines; it is 5.' },
    ]);
  });

  it('with a secret in its parameters says where that belongs', async () => {
    const workspace = await opened({ every: 1_000, params: { quick: { key: 'tws:v2:a:b:c' } } });
    const doc = await workspace.until(id, (it) => Array.isArray(it['problems']), 20_000);
    expect(doc['problems']).toMatchObject([{ path: 'params.quick.key' }]);
  });

  it('does not take the job of somebody else for its own, and tells no problem in its jobs', async () => {
    const workspace = await openWorkspace(plugins);
    const at = Math.floor(Date.now() / 1_000) * 1_000 - 5_000;
    const [first, second] = [slotJobId(id, at), slotJobId(id, at + 1_000)];
    await workspace.put(...definitions, { _id: first, type: 'job', flow: 'tick', owner: 'me' });
    await workspace.put(schedule({ at: [at, at + 1_000], overlap: 'all' }));
    await workspace.engine({ drainMs: 100 });
    const isDone = (it: StoredDocument): boolean =>
      progressOf(it)?.recent.length === 2 && progressOf(it)?.starting === undefined;
    const doc = await workspace.until(id, isDone, 20_000);
    expect(progressOf(doc)?.recent).toMatchObject([
      {
        kind: 'refused',
        because: 'Another document, which this schedule did not make, has the id of the job.',
      },
      { kind: 'started', job: second },
    ]);
    expect(await workspace.ended(second, 20_000)).toMatchObject({ exit: 0 });
    expect((await workspace.store.get(second))?.['problems']).toBeUndefined();
  });

  it('runs the slots of a backfill a few at a time', async () => {
    const [from, until] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1, 5)];
    const workspace = await opened({ every: 'PT1H', backfill: { from, until, at_once: 2 } });
    const doc = await workspace.until(
      id,
      (it) => progressOf(it)?.recent.some(({ kind }) => kind === 'backfilled') === true,
    );
    expect(doc['backfill']).toBeUndefined();
    expect((await jobsOf(workspace)).map(({ _id, exit }) => [_id, exit])).toEqual(
      [0, 1, 2, 3, 4].map((hour) => [`schedule-run:me:s:2026-01-01T0${hour}:00:00Z`, 0]),
    );
  });
});
