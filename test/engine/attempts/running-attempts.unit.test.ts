import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock/clock.js';
import {
  createRunningAttempts,
  type RunningAttemptsOptions,
} from '../../../src/engine/attempts/running-attempts.js';
import type { Outcome } from '../../../src/decide/finish/outcome.js';
import type { LiveJob } from '../../../src/model/job.js';
import type { LiveStep } from '../../../src/model/step.js';
import { begun } from '../../decide/story.js';

const { liveJob: job } = begun(['a']);
const step = (claim: string): LiveStep => ({ claim, task: 'a', path: '0' }) as unknown as LiveStep;

function open(slots: number) {
  const freed: number[] = [];
  const attempts = createRunningAttempts({
    slots,
    count: () => 1,
    onFree: () => freed.push(attempts.freeSlots()),
  } as unknown as RunningAttemptsOptions);
  return { attempts, freed };
}

it('a step that hands its slot to the next one takes no second slot for it', () => {
  const { attempts } = open(2);
  expect(attempts.reserve([step('a'), step('b')], [], job)).toBe(true);
  expect([attempts.freeSlots(), attempts.freeSlots(['a']), attempts.freeSlots(['b'])]).toEqual([
    0, 1, 1,
  ]);
  expect(attempts.reserve([step('a2')], ['a'], job)).toBe(true);
  expect([attempts.freeSlots(), attempts.freeSlots(['a']), attempts.freeSlots(['b'])]).toEqual([
    0, 0, 1,
  ]);
  expect(attempts.reserve([step('b2')], ['b'], job)).toBe(true);
  attempts.release('a');
  attempts.release('b');
  expect([...attempts.claims]).toEqual(['a2', 'b2']);
  expect(attempts.freeSlots()).toBe(0);
});

it('a slot that was handed over comes back when the next step was not stored', () => {
  const { attempts, freed } = open(1);
  expect(attempts.reserve([step('a')], [], job)).toBe(true);
  expect(attempts.reserve([step('a2')], ['a'], job)).toBe(true);
  attempts.withdraw([step('a2')], ['a']);
  expect(freed).toEqual([0]);
  expect([...attempts.claims]).toEqual(['a']);
  expect([attempts.freeSlots(), attempts.freeSlots(['a'])]).toEqual([0, 1]);
});

it('a step that ends without a next one frees its slot', () => {
  const { attempts, freed } = open(1);
  expect(attempts.reserve([step('a')], [], job)).toBe(true);
  expect(attempts.reserve([], ['a'], job)).toBe(true);
  expect(attempts.freeSlots()).toBe(0);
  attempts.withdraw([], ['a']);
  attempts.release('a');
  expect(freed).toEqual([1]);
});

it('attempts that are closed have no free slot', async () => {
  const { attempts } = open(1);
  attempts.close();
  expect(attempts.freeSlots()).toBe(0);
  await attempts.empty();
});

it.each(['released', 'fenced'] as const)(
  'an attempt that is confirmed after all were %s is not begun',
  async (reason) => {
    const called: string[] = [];
    const ended: unknown[] = [];
    const plugins = { get: (name: string) => void called.push(name) };
    const attempts = createRunningAttempts({
      ...{ slots: 1, plugins, onFree: () => undefined },
      onEnded: (job: string, { claim }: LiveStep, outcome: Outcome) => {
        ended.push({ job, claim, kind: outcome.kind });
        return Promise.resolve();
      },
    } as unknown as RunningAttemptsOptions);
    expect(attempts.reserve([step('a')], [], job)).toBe(true);
    attempts.stopAll(reason);
    attempts.start({ _id: 'j' } as LiveJob, step('a'));
    await attempts.empty();
    expect(called).toEqual([]);
    expect(ended).toEqual(reason === 'fenced' ? [] : [{ job: 'j', claim: 'a', kind: 'released' }]);
  },
);

const broken = (what: string) => (): never => {
  throw new Error(`The ${what} is broken.`);
};

it.each<[string, object]>([
  ['meter', { meters: { claim: () => undefined, attempt: broken('meter') } }],
  ['registry', { plugins: { get: broken('registry') } }],
  ['watch', { blocking: { begin: broken('watch') } }],
])('an attempt that cannot be started fails and frees its slot (%s)', async (what, more) => {
  const ended: unknown[] = [];
  const story = begun(['a']);
  const attempts = createRunningAttempts({
    ...{ slots: 1, count: () => 1, graceMs: 1, reportMs: 1, now: () => 0, clock: systemClock },
    onFree: () => undefined,
    plugins: { get: () => ({ name: 'a', file: 'a.mjs', module: {} }) },
    onEnded: (job: string, { claim }: LiveStep, outcome: Outcome) => {
      ended.push({ job, claim, outcome });
      return Promise.resolve();
    },
    ...more,
  } as unknown as RunningAttemptsOptions);
  const { live } = story;
  attempts.reserve([live], [], story.liveJob);
  attempts.start(story.liveJob, live);
  await attempts.empty();
  const message = `It could not be started: The ${what} is broken.`;
  const outcome = { kind: 'failed', failure: { name: 'AttemptFailed', message } };
  expect(ended).toEqual([{ job: 'j', claim: live.claim, outcome }]);
  expect([attempts.freeSlots(), attempts.ofJob.size]).toEqual([1, 0]);
});
