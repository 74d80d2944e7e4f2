import { expect, it } from 'vitest';
import { t0, task } from '../../support/builders.js';
import { begun } from '../story.js';

it('a job that expires before the next attempt of a step that nobody took is looked at when it expires', () => {
  const told = begun(['a'], {
    tasks: [task('a', { accept_timeout: 500, retry: { limit: 1, delay: 10_000 } })],
    job: { expires: t0 + 1_000 },
    world: { freeSlots: 0 },
  });
  told.at(500).go();
  expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 1_000 });
});
