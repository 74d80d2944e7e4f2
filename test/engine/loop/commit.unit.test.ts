import { describe, expect, it } from 'vitest';
import { leftBy } from '../../../src/decide/finish/abandoned.js';
import { commit, holding, type CommittableIntent } from '../../../src/engine/loop/commit.js';
import type { JobParts } from '../../../src/engine/loop/job-parts.js';
import type { Job } from '../../../src/model/job.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { LiveStep } from '../../../src/model/step.js';

/** The child of the job `j`. */
const child = { _id: 'j:0:1', _rev: '1-c', parent: { job: 'j', step: '0' }, state: 'a-0' };

/** Commits a job of revision 8 that the database refuses, while it holds `stored`. */
async function refused(stored: StoredDocument): Promise<readonly StoredDocument[]> {
  const written: StoredDocument[] = [];
  const parts = {
    store: {
      get: async (id: string) => (id === 'j' ? stored : child),
      view: async () => [],
      write: async (doc: StoredDocument) => {
        written.push(doc);
        return { kind: 'written', rev: '10-x' };
      },
    },
    retry: async <T>(ask: () => Promise<T>) => ask(),
    once: { log: () => undefined, stored: () => undefined },
    now: () => 7,
    life: new AbortController(),
    documentLimit: { bytes: 100 },
    serializer: { drop: () => undefined },
    attempts: { reserve: () => undefined, withdraw: () => undefined, of: () => [] },
    waitQueue: { leave: () => undefined },
    notifications: {
      make: () => Promise.resolve(),
      ofEnd: (_doc: unknown, ended: unknown) => Promise.resolve(ended),
    },
    locks: { adopt: () => undefined, release: async () => undefined },
    replicas: {
      many: false,
      commit: async () => ({ kind: 'refused', reason: 'too long', bytes: 200 }),
    },
  } as unknown as JobParts;
  const job = { _id: 'j', _rev: '8-x', type: 'job', state: 'a-0', steps: [] };
  await commit(parts, { kind: 'write', job } as unknown as CommittableIntent);
  return written;
}

describe('a job that the database refuses', () => {
  const open = { path: '0', state: '$$waiting', child: 'j:0:1' };

  it('ends, with what waits in it and its children', async () => {
    const written = await refused({ _id: 'j', _rev: '8-x', type: 'job', steps: [open] });
    expect(written).toMatchObject([
      { type: 'request', job: 'j:0:1', action: 'cancel' },
      { _id: 'j', _rev: '8-x', state: '$$complete', exit: 3, steps: [{ state: '$$cancelled' }] },
    ]);
  });

  it('E1: is left as it is when somebody has written it since', async () => {
    const written = await refused({ _id: 'j', _rev: '9-y', type: 'job', state: '$$complete' });
    expect(written).toEqual([]);
  });
});

describe('the children that a decision gives up', () => {
  it('are asked to cancel, or made as cancelled jobs, before the decision is written', async () => {
    const told: unknown[] = [];
    const job = { _id: 'j', _rev: '8-x', type: 'job', state: 'a-0', steps: [] };
    const parts = {
      store: {
        get: async (id: string) => (id === 'j:0:1' ? child : undefined),
        write: async ({ _id, job: of, action, cancel }: StoredDocument) => {
          told.push(of === undefined ? [_id, Object.keys(cancel as object)] : [of, action]);
          return { kind: 'written', rev: '1-r' };
        },
      },
      retry: async <T>(ask: () => Promise<T>) => ask(),
      log: { error: () => undefined },
      now: () => 7,
      life: new AbortController(),
      documentLimit: { bytes: 100 },
      serializer: { drop: () => undefined, knows: () => false },
      attempts: { reserve: () => undefined, withdraw: () => undefined, of: () => [] },
      timers: { set: () => undefined },
      waitQueue: { leave: () => undefined },
      notifications: { make: () => Promise.resolve() },
      replicas: {
        commit: async () => {
          told.push('the job');
          return { kind: 'lost' };
        },
      },
    } as unknown as JobParts;
    const steps = [0, 1].map((i) => ({ state: '$$waiting', child: `j:${i}:1`, attempt: 1 }));
    const decision = { kind: 'write', job, abandons: leftBy({ _id: 'j', steps }) };
    await commit(parts, decision as unknown as CommittableIntent);
    expect(told).toEqual([['j:0:1', 'cancel'], ['j:1:1', ['reason']], 'the job']);
  });
});

describe('the slots of claims that could not be written', () => {
  it('are free again, whatever went wrong', async () => {
    const seen: unknown[] = [];
    const attempts = {
      reserve: (...given: unknown[]) => seen.push(['reserve', ...given]),
      withdraw: (...given: unknown[]) => seen.push(['withdraw', ...given]),
    };
    const parts = { attempts } as unknown as JobParts;
    const claims = [{ claim: 'c' }] as unknown as readonly LiveStep[];
    const job = { _id: 'j' } as unknown as Job;
    const wrong = new Error('no room');
    const held = holding(parts, { claims, ended: ['b'], job }, () => Promise.reject(wrong));
    await expect(held).rejects.toBe(wrong);
    expect(seen).toEqual([
      ['reserve', claims, ['b'], job],
      ['withdraw', claims, ['b']],
    ]);
  });
});
