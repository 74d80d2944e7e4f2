import { describe, expect, it } from 'vitest';
import { createReleaseSteps } from '../../../src/engine/locks/give-back.js';
import { createPermitQueues } from '../../../src/engine/locks/permit-queues.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Store } from '../../../src/store/store.js';

/** Removes the permits of ended attempts of a job; returns the ids of removed locks, and what was logged. */
async function released(
  job: Readonly<Record<string, unknown>>,
  locks: readonly StoredDocument[] = [],
): Promise<readonly string[]> {
  const removed: string[] = [];
  const say = (_about: object, text: string): void => void removed.push(text);
  const log = { debug: say, info: say, warn: say, error: say };
  const store = {
    getMany: async (ids: readonly string[]) =>
      new Map(locks.filter(({ _id }) => ids.includes(_id)).map((lock) => [lock._id, lock])),
    remove: async (id: string) => void removed.push(id),
  } as unknown as Store;
  const release = createReleaseSteps({ store, log, copies: () => 1 });
  await release({ _id: 'j', _rev: '3-j', type: 'job', ...job });
  return removed;
}

const definitions = { a: { concurrency: 1 } };

const lock = (_id: string, more: object = {}): StoredDocument => ({
  ...{ _id, _rev: '1-l', type: 'lock', job: 'j', step: '0', rev: '1-j', ...more },
});

describe('the permits of attempts that have ended', () => {
  it('are removed, but for one that an open attempt lists', async () => {
    const ended = { path: '0', attempt: 1, run: 1, state: '$$complete', permits: ['p', 'q'] };
    const open = { path: '1', attempt: 1, run: 1, state: '$$active', permits: ['q'] };
    const steps = [ended, open];
    expect(await released({ definitions, steps }, [lock('p'), lock('q')])).toEqual(['p']);
  });

  it.each<[string, object]>([
    ['is no lock', { type: 'job' }],
    ['is the lock of a job', { step: undefined }],
    ['is a permit of the job that it continues', { job: 'i' }],
    ['was taken for this revision', { rev: '3-j' }],
  ])('are what is removed, and nothing that %s', async (_title, more) => {
    const steps = [{ path: '0', attempt: 1, run: 1, state: '$$complete', permits: ['p'] }];
    const job = { continued_from: 'i', definitions, steps };
    expect(await released(job, [lock('p', more)])).toEqual([]);
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
  ])('are looked for without an error in a job with %s', async (_title, of, steps) => {
    expect(await released({ definitions: of, steps })).toEqual([]);
  });
});

describe('the line of a limit', () => {
  const want = { key: 'k', most: 1, strategy: 'queue' } as const;
  const first = { id: 'a', priority: 5, begun: true };
  const second = { id: 'b', priority: 9, begun: false };
  /** The jobs before `b` after a look at `a`, which waited for a permit before and waits for a slot now. */
  const before = (asks: 'passing' | 'looked_at' | undefined): readonly string[] => {
    const library = { flow: () => ({ kind: 'absent' }) as const, limiting: new Set<string>() };
    const queues = createPermitQueues(async () => undefined, library);
    queues.wait(first, { lines: [{ key: 'k', title: 'k', most: 1, by: [] }] });
    queues.place(want, second, 'looked_at');
    expect(queues.before('k', 'b')).toEqual(['a']);
    queues.look({ _id: 'a', _rev: '1-a', type: 'job' });
    if (asks !== undefined) queues.place(want, first, asks);
    queues.wait(first, { for: 'slot' });
    queues.looked('a');
    return queues.before('k', 'b');
  };

  it('has no place for a job that waits for a slot and needs no permit, or asks only with a slot', () => {
    expect([before(undefined), before('passing'), before('looked_at')]).toEqual([[], [], ['a']]);
  });

  it('knows which of two jobs came first', () => {
    const library = { flow: () => ({ kind: 'absent' }) as const, limiting: new Set<string>() };
    const queues = createPermitQueues(async () => undefined, library);
    for (const one of [first, second]) queues.place(want, one, 'looked_at');
    expect([queues.isEarlier('a', 'b'), queues.isEarlier('b', 'a')]).toEqual([true, false]);
    expect([queues.isEarlier('a', 'x'), queues.isEarlier('x', 'a')]).toEqual([false, false]);
  });

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
