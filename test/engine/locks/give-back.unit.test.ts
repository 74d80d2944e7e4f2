import { describe, expect, it } from 'vitest';
import { createReleaseSteps } from '../../../src/engine/locks/give-back.js';
import { createPermitQueues } from '../../../src/engine/locks/permit-queues.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Store } from '../../../src/store/store.js';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Removes the permits of ended attempts of a job that has any form; answers what was removed. */
async function released(
  job: Readonly<Record<string, unknown>>,
  locks: readonly StoredDocument[] = [],
): Promise<readonly string[]> {
  const removed: string[] = [];
  const store = {
    getMany: async (ids: readonly string[]) =>
      new Map(locks.filter(({ _id }) => ids.includes(_id)).map((lock) => [lock._id, lock])),
    remove: async (id: string) => void removed.push(id),
  } as unknown as Store;
  const release = createReleaseSteps({ store, log: silent, copies: () => 1 });
  await release({ _id: 'j', _rev: '3-j', type: 'job', ...job });
  return removed;
}

const definitions = { a: { concurrency: 1 } };

describe('the permits of attempts that have ended', () => {
  it('are removed, but for one that an open attempt lists', async () => {
    const lock = (_id: string): StoredDocument => ({ _id, _rev: '1-l', job: 'j', rev: '1-j' });
    const ended = { path: '0', attempt: 1, run: 1, state: '$$complete', permits: ['p', 'q'] };
    const open = { path: '1', attempt: 1, run: 1, state: '$$active', permits: ['q'] };
    const steps = [ended, open];
    expect(await released({ definitions, steps }, [lock('p'), lock('q')])).toEqual(['p']);
  });

  it.each<[string, unknown, unknown]>([
    ['a step that is null', definitions, [null]],
    ['steps that are texts', definitions, ['a', 5, true, []]],
    ['steps that are no list', definitions, { length: 1 }],
    ['steps without anything', definitions, [{}]],
    ['permits that are none', definitions, [{ state: '$$complete', permits: [null, {}, 5] }]],
    ['permits that are no list', definitions, [{ state: '$$complete', permits: 'p' }]],
    ['definitions that are null', { a: null }, [{ permits: ['p'] }]],
    ['definitions that are no object', [null], [null]],
  ])('are nothing to trip over in a job with %s', async (_title, of, steps) => {
    expect(await released({ definitions: of, steps })).toEqual([]);
  });
});

describe('the line of a limit', () => {
  it.each([null, 5, 'x', [null], [[{ limit: 1 }]], {}])(
    'takes a job whose copy of a flow has the limit %j',
    (concurrency) => {
      const queues = createPermitQueues(async () => undefined, {
        flow: () => ({ kind: 'absent' }),
        limiting: new Set(),
      });
      const flow_definition = { name: null, owner: 5, max_running: 'x', concurrency };
      const job = { _id: 'j', _rev: '1-j', type: 'job', state: '$$ready', flow_definition };
      expect(() => queues.look(job)).not.toThrow();
    },
  );
});
