import { expect, it } from 'vitest';
import { createHands, type HandsOptions } from '../../../src/engine/attempts/running-attempts.js';
import type { Outcome } from '../../../src/decide/outcome.js';
import type { LiveJob } from '../../../src/model/job.js';
import type { LiveStep } from '../../../src/model/step.js';
import { begun } from '../../decide/story.js';

const step = (claim: string): LiveStep => ({ claim }) as unknown as LiveStep;

function open(slots: number) {
  const freed: number[] = [];
  const hands = createHands({
    slots,
    count: () => 1,
    onFree: () => freed.push(hands.freeSlots()),
  } as unknown as HandsOptions);
  return { hands, freed };
}

it('a step that hands its slot to the next one takes no second slot for it', () => {
  const { hands } = open(2);
  hands.reserve([step('a'), step('b')]);
  expect([hands.freeSlots(), hands.freeSlots(['a']), hands.freeSlots(['b'])]).toEqual([0, 1, 1]);
  hands.reserve([step('a2')], ['a']);
  expect([hands.freeSlots(), hands.freeSlots(['a']), hands.freeSlots(['b'])]).toEqual([0, 0, 1]);
  hands.reserve([step('b2')], ['b']);
  hands.release('a');
  hands.release('b');
  expect([...hands.claims]).toEqual(['a2', 'b2']);
  expect(hands.freeSlots()).toBe(0);
});

it('a slot that was handed over comes back when the next step was not stored', () => {
  const { hands, freed } = open(1);
  hands.reserve([step('a')]);
  hands.reserve([step('a2')], ['a']);
  hands.withdraw([step('a2')], ['a']);
  expect(freed).toEqual([0]);
  expect([...hands.claims]).toEqual(['a']);
  expect([hands.freeSlots(), hands.freeSlots(['a'])]).toEqual([0, 1]);
});

it('a step that ends without a next one frees its slot', () => {
  const { hands, freed } = open(1);
  hands.reserve([step('a')]);
  hands.reserve([], ['a']);
  expect(hands.freeSlots()).toBe(0);
  hands.withdraw([], ['a']);
  hands.release('a');
  expect(freed).toEqual([1]);
});

it('hands that are closed have no free slot', async () => {
  const { hands } = open(1);
  hands.close();
  expect(hands.freeSlots()).toBe(0);
  await hands.empty();
});

it.each(['released', 'fenced'] as const)(
  'an attempt that is confirmed after all were %s is not begun',
  async (reason) => {
    const called: string[] = [];
    const ended: unknown[] = [];
    const plugins = { get: (name: string) => void called.push(name) };
    const hands = createHands({
      ...{ slots: 1, plugins, onFree: () => undefined },
      onEnded: (job: string, { claim }: LiveStep, outcome: Outcome) => {
        ended.push({ job, claim, kind: outcome.kind });
        return Promise.resolve();
      },
    } as unknown as HandsOptions);
    hands.reserve([step('a')]);
    hands.stopAll(reason);
    hands.start({ _id: 'j' } as LiveJob, step('a'));
    await hands.empty();
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
  const hands = createHands({
    ...{ slots: 1, count: () => 1, graceMs: 1, reportMs: 1, now: () => 0 },
    onFree: () => undefined,
    plugins: { get: () => ({ name: 'a', file: 'a.mjs', module: {} }) },
    onEnded: (job: string, { claim }: LiveStep, outcome: Outcome) => {
      ended.push({ job, claim, outcome });
      return Promise.resolve();
    },
    ...more,
  } as unknown as HandsOptions);
  const { live } = story;
  hands.reserve([live], [], story.liveJob);
  hands.start(story.liveJob, live);
  await hands.empty();
  const message = `It could not be started: The ${what} is broken.`;
  const outcome = { kind: 'failed', failure: { name: 'AttemptFailed', message } };
  expect(ended).toEqual([{ job: 'j', claim: live.claim, outcome }]);
  expect([hands.freeSlots(), hands.of('j')]).toEqual([1, []]);
});
