import { describe, expect, it } from 'vitest';
import {
  enginesBlockedBy,
  recordBlockedEngine,
} from '../../../src/engine/watch/blocked-engines.js';

const by = { engine: 'engine:a', at: 1 };
const before = { engine: 'engine:a', at: 0 };

/** What becomes of one request. */
type Fate = 'answered' | 'answer lost' | 'request lost' | 'conflict';

/** A database with one job; requests have these fates, and later ones are answered. */
function database(job: object, ...fates: readonly Fate[]) {
  let stored: object = job;
  let puts = 0;
  const left = [...fates];
  const request = (method: 'GET' | 'PUT', body?: object): Promise<unknown> => {
    const fate = left.shift() ?? 'answered';
    if (method === 'PUT') puts += 1;
    if (fate === 'request lost') return Promise.resolve(undefined);
    if (fate === 'conflict') return Promise.resolve({ error: 'conflict' });
    if (method === 'PUT') stored = body as object;
    const answer = method === 'PUT' ? { ok: true } : stored;
    return Promise.resolve(fate === 'answered' ? answer : undefined);
  };
  return { request, stored: () => stored as Record<string, unknown>, puts: () => puts };
}

const live = { _id: 'j', type: 'job', state: 'a-0', held_up: [before] };

describe('the record of an engine that a job blocked', () => {
  it.each<readonly [string, readonly Fate[]]>([
    ['when all is answered', []],
    ['when the answer to the write is lost', ['answered', 'answer lost']],
    ['when two answers to the write are lost', ['answered', 'answer lost', 'answer lost']],
    ['when the write is lost', ['answered', 'request lost']],
    ['when somebody else wrote the job meanwhile', ['answered', 'conflict']],
    ['when the job cannot be read at first', ['request lost', 'answer lost']],
  ])('is written once: %s', async (_when, fates) => {
    const { request, stored } = database(live, ...fates);
    await recordBlockedEngine(request, by);
    expect(enginesBlockedBy(stored())).toEqual([before, by]);
  });

  it.each([
    ['a job that has ended', { ...live, state: '$$complete' }],
    ['what is no job', { ...live, type: 'flow' }],
  ])('is not written into %s', async (_what, doc) => {
    const { request, puts } = database(doc);
    await recordBlockedEngine(request, by);
    expect(puts()).toBe(0);
  });

  it('is given up when nothing is answered', async () => {
    const lost = Array.from({ length: 20 }, () => 'request lost' as const);
    const { request, stored } = database(live, ...lost);
    await recordBlockedEngine(request, by);
    expect(enginesBlockedBy(stored())).toEqual([before]);
  });
});
