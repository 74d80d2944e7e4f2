import { describe, expect, it } from 'vitest';
import {
  attemptsOf,
  completionOn,
  hasBegun,
  lastAttempt,
  lineOf,
} from '../../src/reading/attempts.js';
import { entryOf } from '../../src/reading/entries.js';
import { flow, liveJob, t0 } from '../support/builders.js';
import { story } from '../decide/story.js';

/** `a` is recovered by `h`, `b` fails but may, `a` again succeeds in its second attempt, `c` runs. */
function eventful() {
  const told = story({
    steps: [
      { task: 'a', error: 'h' },
      { task: 'b', optional: true },
      [{ task: 'a', retry: 1 }],
      'c',
    ],
  });
  told.go();
  told.at(1).fail();
  told.at(2).done('recovered');
  told.at(3).fail();
  told.at(4).fail();
  told.at(5).done();
  return told;
}

describe('history', () => {
  const told = eventful();
  const job = told.liveJob;

  it('finds attempts by path', () => {
    expect(told.trail).toEqual([
      'a#1 $$error',
      'h#1 $$complete',
      'b#1 $$error',
      'a#1 $$error',
      'a#2 $$complete',
      'c#1 $$active',
    ]);
    expect(attemptsOf(job, '2.sequence.0').map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(lastAttempt(job, '2.sequence.0')).toMatchObject({ attempt: 2 });
    expect(lastAttempt(job, '7')).toBeUndefined();
  });

  it.each([
    ['0', 'h'],
    ['0.error', 'h'],
    ['1', undefined],
    ['2.sequence.0', 'a'],
    ['3', undefined],
  ])('knows what completed the step at %s', (path, task) => {
    expect(completionOn(job, path)?.task).toBe(task);
  });
});

describe('lineOf', () => {
  it.each([
    ['0', ['0']],
    ['0.error.error', ['0.error.error', '0.error', '0']],
    ['error', ['error']],
    ['error.error', ['error.error', 'error']],
  ])('follows %s down', (path, line) => {
    expect(lineOf(path)).toEqual(line);
  });
});

describe('entryOf', () => {
  const job = liveJob(flow(['a', [{ task: 'b', timeout: 5 }]], { cancel: 'u' }));
  it.each([
    ['1.sequence.0', { task: 'b', timeout: 5 }],
    ['cancel.sequence.0', { task: 'u' }],
    ['0.error', undefined],
  ])('finds the entry at %s', (path, entry) => {
    expect(entryOf(job, path)).toEqual(entry);
  });
});

describe('hasBegun', () => {
  it('counts attempts that were started, no others', () => {
    const told = story({
      steps: [{ task: 'a', when: 'x' }, 'b'],
      world: { freeSlots: 0 },
      job: { expires: t0 + 9 },
    });
    told.answering({ '0.when': false }).go();
    expect(hasBegun(told.liveJob)).toBe(false);
    told.with({ freeSlots: 1 }).go();
    expect(hasBegun(told.liveJob)).toBe(true);
  });
});
