import { expect, it } from 'vitest';
import { caughtIn } from '../../src/reading/caught.js';
import { story } from '../decide/story.js';

it('tells which branch goes on for which failure, also within another branch', () => {
  const told = story({
    steps: [
      {
        sequence: [
          'a',
          { task: 'b', catch: [{ do: { task: 'c', catch: [{ do: 'd', as: 'inner' }] } }] },
        ],
        catch: [
          { errors: ['Other'], do: 'e' },
          { do: { sequence: ['f', 'g'] }, as: 'outer' },
        ],
      },
    ],
  });
  told.go();
  expect(caughtIn(told.liveJob)).toEqual([]);
  told.done();
  told.fail();
  told.fail();
  told.fail();
  told.done();
  const seen = caughtIn(told.liveJob).map(({ at, clause, failed: { name }, as }) => [
    ...[at, clause, name, as],
  ]);
  expect(seen).toEqual([
    ['0.try.sequence.1', 0, 'b', undefined],
    ['0.try.sequence.1.catch.0', 0, 'c', 'inner'],
    ['0', 1, 'd', 'outer'],
  ]);
});

it('leaves out branches that were skipped by hand before anything failed', () => {
  const told = story({ steps: [{ task: 'a', catch: [{ do: 'b' }] }] });
  told.go();
  const { liveJob: job } = told;
  const [step] = job.steps;
  const skipped = { ...step, path: '0.catch.0', name: 'b', state: '$$skipped' };
  expect(caughtIn({ ...job, steps: [...job.steps, skipped] } as never)).toEqual([]);
});
