import { describe, expect, it } from 'vitest';
import { receive } from '../../../src/decide/requests/command.js';
import { takeOffer } from '../../../src/decide/waiting/lease.js';
import { offering } from '../../../src/decide/waiting/offering.js';
import { unknownWorld, type World } from '../../../src/decide/world.js';
import type { Job, LiveJob } from '../../../src/model/job.js';
import { parseDocument } from '../../../src/reading/parse.js';
import { t0 } from '../../support/builders.js';

const tasks: Readonly<Record<string, string>> = { w: 'worker', v: 'worker', e: 'echo' };
const any: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });

const world: World = {
  ...unknownWorld,
  me: {
    ...unknownWorld.me,
    plugins: new Set(['worker']),
    labels: any,
    queues: any,
    freeSlots: 100,
  },
  nonce: 'n',
  lease: () => 'alive',
  root: () => 'live',
  task: (name) =>
    name in tasks
      ? { kind: 'found', value: { type: 'task', name, plugin: String(tasks[name]) } }
      : { kind: 'unknown' },
};

function jobOf(structure: unknown, more: object = {}): Job {
  const doc = { _id: 'j', _rev: '', type: 'job', tasks: structure, ...more };
  const parsed = parseDocument(doc);
  if (parsed.kind !== 'job' || !parsed.ok) throw new Error(JSON.stringify(parsed));
  return parsed.value;
}

function offered(job: Job, now = t0) {
  let number = 0;
  return offering(job, now, {
    world,
    place: () => ({ at: now, id: String((number += 1)) }),
  });
}

/** The steps of what is written: path, state and the end of the signal. */
function stepsOf(came: ReturnType<typeof offered>) {
  if (came.kind !== 'write') return came.kind;
  const { steps } = came.job as LiveJob;
  return steps.map(({ path, state, ...step }) =>
    [path, state, endOf(step['signal'])].join(' ').trim(),
  );
}

const endOf = (signal: unknown): string =>
  typeof signal === 'string' ? (signal.split('/').at(-1) ?? '') : '';

/** A worker takes the first offer and answers it. */
function answered(came: ReturnType<typeof offered>, answer: object) {
  if (came.kind !== 'write') throw new Error(came.kind);
  const job = came.job as LiveJob;
  const step = job.steps.find(({ state }) => state === '$$waiting');
  const leased = takeOffer(job, String(step?.['signal']), { worker: 'w1', id: 'l' }, t0 + 1);
  const signal = { _id: 's', _rev: '', type: 'signal' as const, job: 'j', name: 'lease/l' };
  const taken = receive(leased as LiveJob, { ...signal, ...answer }, t0 + 2);
  if (taken.kind !== 'applied') throw new Error(taken.kind);
  return offered(taken.job, t0 + 2);
}

describe('Y6: a job without an engine', () => {
  it.each<[string, unknown, object, unknown]>([
    ['offers its one step', ['w'], {}, ['0 $$waiting 1']],
    ['offers the first of a sequence', ['w', 'v'], {}, ['0 $$waiting 1']],
    [
      'offers all that run beside each other, in their order (Y8)',
      [{ parallel: ['w', 'v', ['w', 'v']] }],
      {},
      [
        '0.parallel.0 $$waiting 1',
        '0.parallel.1 $$waiting 2',
        '0.parallel.2.sequence.0 $$waiting 3',
      ],
    ],
    ['is left to engines for what they run', ['e'], {}, 'none'],
    ['is left to engines until its time', ['w'], { exec_after: t0 + 1 }, 'none'],
    ['is left to engines while it is paused', ['w'], { paused: true }, 'none'],
    ['asks for a task that is not known', ['x'], {}, 'look_up'],
    ['is offered as far as it goes', [{ parallel: ['w', 'e'] }], {}, ['0.parallel.0 $$waiting 1']],
  ])('%s', (_title, structure, more, steps) => {
    expect(stepsOf(offered(jobOf(structure, more)))).toEqual(steps);
  });

  it('waits no longer than its job may, and has no engine', () => {
    const came = offered(jobOf(['w'], { expires: t0 + 500 }));
    expect(came).toMatchObject({ kind: 'write', job: { steps: [{ until: t0 + 500 }] } });
    const [step] = (came as { job: LiveJob }).job.steps;
    for (const key of ['engine', 'pid', 'claim']) expect(step).not.toHaveProperty(key);
  });

  it('ends with the answer of a worker, good or bad', () => {
    const job = offered(jobOf(['w']));
    expect(answered(job, { data: 7 })).toMatchObject({
      kind: 'write',
      job: { state: '$$complete', exit: 0, steps: [{ state: '$$complete', result: 7 }] },
    });
    const failure = { name: 'Broken', message: 'No.' };
    expect(answered(job, { failure })).toMatchObject({
      job: { state: '$$complete', exit: 2, failure: { name: 'Broken' } },
    });
    const again = offered(jobOf([{ task: 'w', retry: { limit: 1, delay: 500 } }]));
    expect(answered(again, { failure })).toMatchObject({
      job: { next_due: t0 + 502, steps: [{ state: '$$error', due: t0 + 502 }] },
    });
  });

  it('offers what follows in the same write', () => {
    const job = offered(jobOf(['w', { batch: ['w', 'v'], on_complete: 'v' }]));
    expect(stepsOf(answered(job, { data: 1 }))).toEqual([
      '0 $$complete l',
      '1.batch.0 $$waiting 1',
      '1.batch.1 $$waiting 2',
    ]);
  });

  it('Y7: keeps what was done and leaves the rest to engines', () => {
    const came = answered(offered(jobOf(['w', 'e'])), { data: 1 });
    expect(stepsOf(came)).toEqual(['0 $$complete l']);
    expect((came as { job: object }).job).not.toHaveProperty('next_due');
  });
});

describe('Y7: what is left to engines', () => {
  const begun = () => (offered(jobOf(['w'])) as { job: LiveJob }).job;

  it('is a child job', () => {
    expect(offered(jobOf([{ flow: 'f', owner: 'me' }])).kind).toBe('none');
  });

  it('is a step of another plugin', () => {
    const able = { ...world, me: { ...world.me, plugins: any } };
    const came = offering(jobOf(['e']), t0, { world: able, place: () => ({ at: t0, id: 'x' }) });
    expect(came.kind).toBe('none');
  });

  it('is nothing of a job that waits, or has ended', () => {
    expect(offered(begun()).kind).toBe('none');
    const ended = answered(offered(jobOf(['w'])), { data: 1 }) as { job: Job };
    expect(offered(ended.job).kind).toBe('none');
  });
});

it('leaves work to engines that nobody could take in time', () => {
  const late = { task: 'w', params: { worker: { timeout: 0 } } };
  expect(offered(jobOf([late], { expires: t0 })).kind).not.toBe('claim');
});

it('goes on with so many decisions only, and leaves the rest to engines', () => {
  const structure = [{ parallel: Array.from({ length: 120 }, () => 'w') }];
  const one = { ...world, me: { ...world.me, freeSlots: 1 } };
  const came = offering(jobOf(structure), t0, { world: one, place: () => ({ at: t0, id: 'x' }) });
  expect(stepsOf(came)).toHaveLength(100);
});

it('Y8: steps that are offered together stand in line in the order of the flow', () => {
  const came = offered(jobOf([{ parallel: Array.from({ length: 20 }, () => 'w') }]));
  const steps = stepsOf(came) as readonly string[];
  expect(steps.map((step) => Number(step.split(' ').at(-1)))).toEqual(
    Array.from({ length: 20 }, (_, n) => n + 1),
  );
});
