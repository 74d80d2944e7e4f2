import { describe, expect, it } from 'vitest';
import { listJobs } from '../../src/client/lists.js';
import { openWorkspace } from '../support/workspace.js';

const ended = (_id: string, flow: string, exit: number, name: string) => ({
  ...{ _id, type: 'job', flow, owner: 'me', start: 1, end: 2, exit, steps: [] },
  state: name === 'Cancelled' ? '$$cancelled' : '$$complete',
  failure: { name, message: `${name}.` },
});

describe('the failed jobs', () => {
  it('are those that nobody cancelled, chosen before they are counted', async () => {
    const { put, store } = await openWorkspace();
    const before = Array.from({ length: 5 }, (_, i) => ended(`a${i}`, 'a', 2, 'Broken'));
    await put(...before, ended('b0', 'b', 130, 'Cancelled'), ended('b1', 'b', 1, 'Late'));
    await put(ended('b2', 'b', 2, 'Broken'));
    const ids = async (limit: number, which = {}) =>
      (await listJobs(store, 'failed', limit, which)).jobs.map(({ _id }) => _id);
    expect(await ids(100)).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'b1', 'b2']);
    expect(await ids(2, { flow: 'b' })).toEqual(['b1', 'b2']);
    expect(await ids(1, { failure: 'Late' })).toEqual(['b1']);
    expect(await ids(1, { flow: 'b', failure: 'Broken' })).toEqual(['b2']);
    expect(await listJobs(store, 'failed', 6)).toMatchObject({ more: true, left: 1 });
  });
});
