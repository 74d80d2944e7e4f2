import { describe, expect, it } from 'vitest';
import { neverDue } from '../../src/model/scalars.js';
import { readJob, type JobReading } from '../../src/reading/read-job.js';

const now = 1_000_000;
const work = 'work/default/500/0000000000000001/a';
const step = (more: object): object => ({ name: 'a', path: '0', state: '$$complete', ...more });
const job = (more: object) => ({
  _id: 'j',
  _rev: '1-0',
  type: 'job',
  state: 'a-0',
  run: 1,
  ...more,
});

type Row = readonly [string, object, Partial<JobReading>];

describe('the reading of a job', () => {
  it.each<Row>([
    ['that has steps of no shape', { steps: [null, 'x', 7] }, { steps: [], status: 'running' }],
    ['whose steps are no list', { steps: {} }, { steps: [], status: 'queued' }],
    [
      'that runs',
      { steps: [step({ state: '$$active' })] },
      { isOffered: false, status: 'running' },
    ],
    [
      'that is being offered to workers',
      { steps: [step({ state: '$$active', plugin: 'worker' })] },
      { isOffered: true },
    ],
    [
      'that was offered',
      { steps: [step({ state: '$$waiting', signal: work })] },
      { isOffered: true },
    ],
    [
      'that waits',
      { steps: [step({ state: '$$waiting' })] },
      { isOffered: false, status: 'waiting' },
    ],
    ['that has ended', { state: '$$complete', exit: 0, steps: [step({})] }, { isOffered: false }],
    ['of another run', { run: 2, steps: [step({ run: 1 })] }, { isOffered: true }],
    ['between two steps', { steps: [step({ run: 1 })] }, { isOffered: false }],
    ['that is ready', { state: '$$ready', steps: [step({})] }, { isOffered: true }],
    [
      'whose step may be tried again',
      { steps: [step({ state: '$$error', due: now })] },
      { isOffered: true },
    ],
    ['whose step has failed', { steps: [step({ state: '$$error' })] }, { isOffered: false }],
  ])('%s', (_title, more, expected) => {
    expect(readJob(job(more), now)).toMatchObject(expected);
  });

  it('tells the attempt that is tried again, and when', () => {
    const failed = step({ state: '$$error', due: now + 5, failure: { message: 'no luck' } });
    expect(readJob(job({ steps: [failed] }), now)).toMatchObject({
      isOffered: false,
      retried: { due: now + 5, failure: 'no luck', attempt: 1 },
    });
    const both = [step({ state: '$$active', path: '1' }), failed];
    expect(readJob(job({ steps: both }), now).retried).toBeUndefined();
  });

  it.each<readonly [object, number | undefined]>([
    [{ next_due: now + 9 }, now + 9],
    [{ exec_after: new Date(now + 7_000).toISOString() }, now + 7_000],
    [{ exec_after: now + 7, steps: [step({})] }, undefined],
    [{ next_due: now }, undefined],
    [{ next_due: neverDue }, undefined],
    [{ next_due: 'never', exec_after: {} }, undefined],
  ])('of %j sleeps until %s', (more, until) => {
    expect(readJob(job({ state: undefined, ...more }), now).until).toBe(until);
  });

  it('keeps the place, the times and the words of a step', () => {
    const steps = [7, { task: 't', state: 7, start: 3, engine: 'e' }];
    const [read] = readJob(job({ steps }), 0).steps;
    expect(read).toEqual({
      ...{ place: 1, path: '', name: 't', state: '', attempt: 1, run: 1 },
      ...{ open: false, failed: false, task: 't', start: 3, engine: 'e' },
    });
  });
});

it('names the job whose result a step used', () => {
  const { steps } = readJob(
    job({ steps: [step({ cached: { job: 'i', path: '0', at: 1 } })] }),
    now,
  );
  expect(steps).toMatchObject([{ cachedFrom: 'i' }]);
});
