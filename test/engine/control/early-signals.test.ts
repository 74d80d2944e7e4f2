import { describe, expect, it } from 'vitest';
import { createEarlySignals } from '../../../src/engine/control/message.js';
import { openWorkspace } from '../../support/workspace.js';

describe('a signal that came before its job', () => {
  it('is not delivered when it was withdrawn meanwhile', async () => {
    const space = await openWorkspace();
    const wait = { wait: { signal: 'go', timeout: 1 } };
    await space.put({ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: [wait] });
    await space.engine();
    await space.put({ _id: 's', type: 'signal', job: 'j', name: 'go' });
    // The engine deals with the signals in the order of the feed: the next one is delivered.
    await space.put({
      _id: 'flow:me:w',
      type: 'flow',
      name: 'w',
      owner: 'me',
      tasks: [{ wait: { signal: 'x' } }],
    });
    await space.put({ _id: 'k', type: 'job', flow: 'w', owner: 'me' });
    await space.put({ _id: 'x', type: 'signal', job: 'k', name: 'x' });
    await space.ended('k');
    const stored = await space.store.get('s');
    await space.store.remove('s', String(stored?._rev));
    await space.put({ _id: 'j', type: 'job', flow: 'f', owner: 'me' });
    const job = await space.ended('j');
    expect(job).toMatchObject({ exit: 1, failure: { name: 'WaitTimeout' } });
    expect(job).not.toHaveProperty('signals');
  });
});

describe('the signals that are kept for jobs to come', () => {
  it('are those that came last', () => {
    const early = createEarlySignals();
    const jobs = Array.from({ length: 1_001 }, (_, i) => `j${i}`);
    for (const job of jobs) early.set(job, new Map());
    expect(early.has('j0')).toBe(false);
    expect(early.has('j1000')).toBe(true);
  });
});
