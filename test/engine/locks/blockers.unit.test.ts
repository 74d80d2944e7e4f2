import { describe, expect, it } from 'vitest';
import { findBlockers, isMatch } from '../../../src/engine/locks/blockers.js';

const heavy = '(a{100}){100}';
const job = (id: string, more: object = {}) => ({
  ...{ _id: id, _rev: '1-a', type: 'job', owner: 'me', state: '$$ready', locked: ['lock:1'] },
  ...more,
});

/** The jobs that keep a job of `me` from target `vm/1`, where `holder` holds the lock `pattern`. */
async function blockersOf(pattern: string, holder: ReturnType<typeof job>): Promise<unknown> {
  const value = { job: holder._id, owner: 'me', at: 5 };
  const row = { id: 'lock:1', key: ['pattern', pattern] as const, value };
  const find = () => Promise.resolve(holder);
  const found = await findBlockers([row], 'vm/1', job('asks'), find);
  return found.kind === 'known' ? found.all : found;
}

describe('a lock that is held', () => {
  it.each([
    ['whose pattern matches', '^vm/', true],
    ['whose pattern does not match', '^db/', false],
    ['whose pattern is too heavy to be evaluated', heavy, true],
    ['whose pattern is none', '(', false],
  ])('%s: %s, counts: %s', async (_title, pattern, isBlocking) => {
    expect(isMatch(pattern, 'vm/1')).toBe(isBlocking);
    const blocker = { job: 'holds', decided: true, at: 5 };
    expect(await blockersOf(pattern, job('holds'))).toEqual(isBlocking ? [blocker] : []);
  });

  it('does not count once its job has ended, however heavy its pattern is', async () => {
    expect(await blockersOf(heavy, job('holds', { state: '$$complete' }))).toEqual([]);
  });
});
