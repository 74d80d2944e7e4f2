import { describe, expect, it } from 'vitest';
import { isHeld, withNotes, withWishes } from '../../../src/decide/copies/wishes.js';
import { attempt, tip } from './tips.js';

const asked = (id: string, action: string) => ({ id, action, at: 1 });

describe('what users asked of the other revision', () => {
  it('leaves a job alone when nothing was asked', () => {
    const job = tip('2-a', []);
    expect(withWishes(job, tip('2-b', [], { cancel: false, requests: 'none' }))).toBe(job);
  });

  it.each([
    ['a cancel is kept', {}, { cancel: { by: 'ann' } }, { cancel: { by: 'ann' } }],
    ['a cancel of its own stays', { cancel: true }, { cancel: { by: 'ann' } }, { cancel: true }],
    [
      'a pause is applied',
      {},
      { requests: [asked('1', 'pause')] },
      { paused: true, requests: [asked('1', 'pause')] },
    ],
    [
      'the last of pause and resume counts',
      { paused: true, requests: [asked('1', 'pause')] },
      { requests: [asked('1', 'pause'), asked('2', 'resume'), asked('3', 'cancel')] },
      {
        paused: false,
        requests: [asked('1', 'pause'), asked('2', 'resume'), asked('3', 'cancel')],
      },
    ],
    [
      'what was applied here already is not applied again',
      { paused: false, requests: [asked('1', 'pause'), null] },
      { requests: [asked('1', 'pause')] },
      { paused: false, requests: [asked('1', 'pause'), null] },
    ],
    [
      'a signal that came there has come',
      { signals: [{ id: 's1', name: 'go', at: 1 }] },
      {
        signals: [
          { id: 's1', name: 'go', at: 1 },
          { id: 's2', name: 'go', at: 2 },
        ],
      },
      {
        signals: [
          { id: 's1', name: 'go', at: 1 },
          { id: 's2', name: 'go', at: 2 },
        ],
      },
    ],
    [
      'a note is kept, once',
      { notes: [{ text: 'a', at: 1 }] },
      {
        notes: [
          { text: 'a', at: 1 },
          { text: 'a', at: 2, by: 'ann' },
        ],
      },
      {
        notes: [
          { text: 'a', at: 1 },
          { text: 'a', at: 2, by: 'ann' },
        ],
      },
    ],
  ])('%s', (_title, mine, other, expected) => {
    const next = withWishes(tip('2-a', [], mine), tip('2-b', [], other));
    expect(next).toMatchObject(expected);
    expect(next._rev).toBe('2-a');
  });

  it.each([
    [{}, false],
    [{ paused: true }, true],
    [{ cancel: true }, true],
    [{ paused: false, cancel: false }, false],
  ])('%j holds the job: %s', (wish, held) => {
    expect(isHeld(tip('2-a', [], wish))).toBe(held);
  });
});

describe('an attempt that ran beside the others', () => {
  it('is a problem of the job', () => {
    const job = tip('2-a', []);
    expect(withNotes(job, [])).toBe(job);
    const noted = withNotes(job, [attempt('0#2 $$error b')]);
    const message =
      'Attempt 2 of step s0 ran on b as well (claim b), when the step was done already.';
    expect(noted).toEqual({ ...job, problems: [{ path: 'steps', message }] });
    const more = withNotes(noted, [attempt('0#3 $$error c')]);
    expect(more['problems']).toHaveLength(2);
  });
});
