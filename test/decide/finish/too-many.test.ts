import { describe, expect, it } from 'vitest';
import { mostSteps, stepsForEnd } from '../../../src/decide/start/effort.js';
import type { LiveJob } from '../../../src/model/job.js';
import type { Step } from '../../../src/model/step.js';
import { task } from '../../support/builders.js';
import type { Task } from '../../../src/model/task.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { begun, type Setting, type Story } from '../story.js';

const t = 1_000;
const many = <T>(length: number, make: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => make(i));

/** An attempt of task `a` that has ended, at any path. */
const ended = (path: string): Step => ({
  ...{ index: 0, path, name: 'a', task: 'a', plugin: 'a', attempt: 1, run: 1, phase: 'main' },
  ...{ state: '$$complete', engine: 'me', pid: 1, claim: path, params: {} },
  ...{ accepted: t, start: t, end: t, exit: 0, result: null },
});

/** A story of `a` and `b` with so many steps beside the one that runs. */
const longStory = (length: number, more: Partial<Setting> = {}): Story => {
  const told = begun(['a', 'b'], more);
  return told.edit({ steps: [...told.steps, ...many(length, () => ended('9'))] });
};

/** Goes on for some revisions: one carries little where there are many steps. */
const goOn = (told: Story): Story => {
  for (let i = 0; i < 5 && told.ending.exit === undefined; i += 1) told.stopped();
  return told;
};

describe('a job with very many steps', () => {
  it('fails, after what runs in it was told to stop', () => {
    const told = longStory(mostSteps);
    told.go();
    expect(told.last).toMatchObject({ path: '', failure: { name: 'TooManySteps' } });
    expect(told.decide()).toMatchObject({ kind: 'abort' });
    goOn(told);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'TooManySteps' });
  });

  it.each<[title: string, flow: NonNullable<Setting['flow']>]>([
    ['handler', { error: 'mend' }],
    ['error branch', { error: ['mend'] }],
  ])('has its %s run, with the failure', (_title, flow) => {
    const told = longStory(mostSteps, { flow });
    goOn(told);
    expect(told.running).toEqual(['mend']);
    told.did('mend');
    goOn(told);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'TooManySteps' });
  });

  it('fails again when it is tried again', () => {
    const told = goOn(longStory(mostSteps));
    told.edit({ retry: true }).go();
    goOn(told);
    expect(told.ending.failure).toBe('TooManySteps');
    expect(told.job).toMatchObject({ run: 2 });
  });

  it.each<[where: string, entry: WrittenNode, a: Task]>([
    ['its task', 'a', task('a', { undo: 'u' })],
    ['its entry', { task: 'a', undo: 'u' }, task('a')],
  ])('fails while there is room to undo what it has done, by %s', (_where, entry, a) => {
    const half = mostSteps / 2;
    const past = many(half + stepsForEnd / 4, (n) =>
      ended(`0.map.${n % half}.sequence.${Math.floor(n / half)}`),
    );
    const told = begun([{ map: { over: many(half, (i) => i), do: { sequence: ['a', 'a'] } } }], {
      tasks: [task('a'), task('u')],
    });
    const [mark] = told.steps;
    // What can be undone would have been refused as too long: somebody has edited the job.
    const { tasks, definitions } = begun(
      [{ map: { over: [1], do: { sequence: [entry, entry] } } }],
      {
        tasks: [a, task('u')],
      },
    ).job as LiveJob;
    told.edit({ tasks, definitions, steps: [mark, ...past.slice(0, -2)] });
    expect(told.decide()).toMatchObject({ kind: 'claim' });
    told.edit({ steps: [mark, ...past] }).go();
    expect(told.last).toMatchObject({ path: '', failure: { name: 'TooManySteps' } });
    told.go();
    expect(told.last).toMatchObject({ task: 'u', phase: 'undo' });
  });

  it('goes on while it has half of them and nothing to undo', () => {
    const told = longStory(mostSteps / 2);
    told.did('a');
    expect(told.running).toEqual(['b']);
  });

  it('ends at once when its end makes too many steps as well', () => {
    const told = longStory(mostSteps + stepsForEnd - 4, { flow: { error: ['mend', 'more'] } });
    goOn(told);
    expect(told.running).toEqual(['mend']);
    told.did('mend');
    goOn(told);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'TooManySteps' });
    expect(told.running).toEqual([]);
  });
});

describe('the lists of all maps of a job', () => {
  const map = (items: readonly unknown[], more: object = {}) => ({
    map: { over: [...items], do: 'a', ...more },
  });
  const numbers = (length: number): number[] => many(length, (i) => i);
  const large = many(100, () => many(3_000, () => 'x'));

  const tooLarge = '500000 values with 4194304 characters';
  it.each([
    ['many items', [map(numbers(10_000)), map(numbers(10_000)), map([1])], '20000 items'],
    ['large items', [map(large), map(large)], tooLarge],
    ['large items in slices', [map(large, { slice: 1 }), map(large, { slice: 1 })], tooLarge],
    ['long texts', [map(['x'.repeat(3e6)]), map(['x'.repeat(3e6)])], tooLarge],
    ['a single list that is too large', [map(many(1_000, () => numbers(600)))], tooLarge],
  ])('fail it with %s', (_title, maps, most) => {
    const told = begun([{ parallel: maps }]);
    told.stopped();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ListsTooLarge' });
    const sentence = `the lists of all maps of the job are too large together; at most ${most} are allowed:`;
    expect(JSON.stringify(told.job)).toContain(sentence);
  });

  it.each([
    ['many items', [map(numbers(10_000)), map(numbers(10_000))]],
    [
      'items in slices',
      [map(numbers(90_000), { slice: 100 }), map(numbers(90_000), { slice: 100 })],
    ],
    ['large items', [map(large)]],
  ])('may have %s', (_title, maps) => {
    const told = begun([{ parallel: maps }]);
    expect(told.ending.failure).toBeUndefined();
    expect(told.steps.filter(({ structure }) => structure === 'map')).toHaveLength(maps.length);
  });

  it('fail what follows a failure by itself', () => {
    const told = begun(['a'], {
      flow: { error: { parallel: [map(large), map(large)] }, error_result: 'handler' },
    });
    told.broke('a');
    goOn(told);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ListsTooLarge' });
    expect(told.steps.at(-1)).toMatchObject({ path: 'error', phase: 'error' });
  });

  it('do not count what is no list on record', () => {
    const told = begun([{ parallel: [map([1]), 'b'] }, map([2])]);
    const steps = told.steps.map((step) => ({ ...step, result: null }));
    told.edit({ steps: [{ ...steps[0], path: '7' }, ...steps] });
    goOn(told);
    expect(told.steps.filter(({ structure }) => structure === 'map').length).toBeGreaterThan(1);
  });

  it('fail the map of a slice', () => {
    const inner = map(many(1_000, () => numbers(600)));
    const told = begun([map([1, 2], { slice: 1, do: inner })]);
    const [child] = told.children;
    expect(child).toBeDefined();
    const slice = begun(['a']);
    slice.write({ ...child });
    slice.go();
    expect(slice.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ListsTooLarge' });
  });
});
