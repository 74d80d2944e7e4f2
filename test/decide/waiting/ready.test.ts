import { describe, expect, it } from 'vitest';
import { readyAt } from '../../../src/decide/waiting/ready.js';
import { flow, liveJob, t0 } from '../../support/builders.js';

describe('readyAt', () => {
  const base = liveJob(flow(['a']));
  const step = {
    index: 0,
    path: '0',
    name: 'a',
    task: 'a',
    attempt: 1,
    run: 1,
    phase: 'main' as const,
  };
  const failure = { name: 'X', message: '' };
  it.each([
    ['is the start of a job without steps', {}, 0],
    ['is the end of a delay', { held_ms: 40 }, 40],
    ['is the beginning of the next run', { resume_at: t0 + 90 }, 90],
    [
      'is the end of the last step',
      { steps: [{ ...step, state: '$$complete' as const, end: t0 + 7, exit: 0 }] },
      7,
    ],
    [
      'is when the next attempt is due',
      {
        steps: [
          { ...step, state: '$$error' as const, end: t0 + 7, due: t0 + 70, exit: 2, failure },
        ],
      },
      70,
    ],
    [
      'is the end of an attempt without a next one',
      {
        steps: [{ ...step, state: '$$error' as const, end: t0 + 7, exit: 2, failure }],
        held_ms: 99,
      },
      7,
    ],
    [
      'is the start while the first step runs',
      { steps: [{ ...step, state: '$$waiting' as const, child: 'c' }] },
      0,
    ],
    [
      'is the last end of all in another run',
      {
        run: 2,
        steps: [
          { ...step, state: '$$error' as const, end: t0 + 7, due: t0 + 70, exit: 2, failure },
          { ...step, path: '1', state: '$$complete' as const, end: t0 + 9, exit: 0 },
        ],
      },
      9,
    ],
  ])('%s', (_title, more, ms) => {
    expect(readyAt({ ...base, ...more }, '0')).toBe(t0 + ms);
  });
  it.each([
    ['with one place waits for the items before it', 1, 50],
    ['with places for all waits for none of them', undefined, 5],
  ])('of an item of a map %s', (_title, limit, ms) => {
    const map = limit === undefined ? {} : { limit };
    const job = liveJob(flow([{ map: { over: 'params.list', do: 'a', ...map } }]));
    const ended = { state: '$$complete' as const, exit: 0 };
    const steps = [
      { ...step, ...ended, end: t0 + 5 },
      { ...step, ...ended, path: '0.map.0', end: t0 + 50 },
    ];
    expect(readyAt({ ...job, steps }, '0.map.1')).toBe(t0 + ms);
  });
});
