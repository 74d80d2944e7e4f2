import { unknownWorld } from '../../../src/decide/world.js';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../src/decide/finish/settle.js';
import type { Outcome } from '../../../src/decide/finish/outcome.js';
import { story, type Setting, type Story } from '../story.js';

/** Settles the attempt of a step that changed the data of its job. */
function after(told: Story, outcome: Outcome, data: Record<string, unknown>, path = '0') {
  const claim = `nonce:${path}`;
  const settled = settle(
    told.job,
    { schema: unknownWorld.schema, claim, outcome, report: { data } },
    told.now,
  );
  if (settled.kind !== 'settled') throw new Error(settled.because);
  return settled.job;
}

function begun(more: Partial<Setting> = {}): Story {
  const told = story({ steps: ['a'], ...more });
  told.go();
  return told;
}

const done: Outcome = { kind: 'done' };
const failed: Outcome = { kind: 'failed', failure: { name: 'No', message: 'no' } };

describe('the data of a job', () => {
  // Shows G-03.
  it.each([
    ['sets a key', undefined, { a: 1 }, { a: 1 }],
    ['replaces a key as a whole', { a: { x: 1 }, b: 2 }, { a: { y: 1 } }, { a: { y: 1 }, b: 2 }],
    ['takes a key out', { a: 1, b: 2 }, { a: null }, { b: 2 }],
    ['takes the last key out', { a: 1 }, { a: null }, undefined],
  ])('are changed by a step that succeeds: %s', (_title, data, changes, expected) => {
    const told = begun(data === undefined ? {} : { job: { data } });
    expect(after(told, done, changes).data).toEqual(expected);
  });

  it('are changed by a step that goes on to wait for a signal', () => {
    const job = after(begun(), { kind: 'wait', signal: 's' }, { a: 1 });
    expect(job.data).toEqual({ a: 1 });
  });

  it.each<[string, Outcome, Partial<Setting>]>([
    ['fails', failed, {}],
    ['ends with an exit of its own', { ...done, exit: 7 }, {}],
    [
      'is let pass with a warning',
      { ...done, exit: 7 },
      { flow: { errors: { ExitSet: { severity: 'warning' } } } },
    ],
    ['begins again', { kind: 'requeue', delayMs: 0 }, {}],
  ])('are left as they are by a step that %s', (_title, outcome, more) => {
    const told = begun({ ...more, job: { data: { a: 1 } } });
    expect(after(told, outcome, { a: 2 }).data).toEqual({ a: 1 });
  });

  it('keep what steps beside each other change, and of one key what came last', () => {
    const told = begun({ steps: [{ parallel: ['a', 'b'] }], world: { freeSlots: 2 } });
    const first = after(told, done, { both: 'b', b: 1 }, '0.parallel.1');
    told.edit(first);
    const second = after(told, done, { both: 'a', a: 1 }, '0.parallel.0');
    expect(second.data).toEqual({ both: 'a', a: 1, b: 1 });
  });

  it('are there for the templates of the steps that follow', () => {
    const told = begun({ steps: ['a', { task: 'b', params: { n: '{{job.data.n}}' } }] });
    told.edit(after(told, done, { n: 7 }));
    told.go();
    expect(told.live.params).toEqual({ n: 7 });
  });
});
