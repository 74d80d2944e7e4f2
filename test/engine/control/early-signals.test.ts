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

describe('signals that start their job', () => {
  // Shows X-15.
  it('R2: make one job, whoever is first, and each counts once', async () => {
    const space = await openWorkspace();
    const names = Array.from({ length: 8 }, (_, i) => `s${i}`);
    const tasks = names.map((name) => ({ wait: { signal: name } }));
    await space.put({ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks, timeout: 0 });
    const counted: string[] = [];
    const meters = { triggers: (by: string, what: string) => void counted.push(`${by} ${what}`) };
    const start = { flow: 'f', owner: 'me' };
    // Half of them while no engine runs.
    for (const name of names.slice(0, 4)) {
      await space.put({ _id: name, type: 'signal', job: 'j', name, data: name, start });
    }
    await Promise.all([1, 2, 3].map(() => space.engine({ meters })));
    await Promise.all(
      names.slice(4).map(async (name) => {
        await space.put({ _id: name, type: 'signal', job: 'j', name, data: name, start });
      }),
    );
    const job = await space.ended('j');
    const signals = job['signals'] as readonly { readonly id: string }[];
    expect(signals.map(({ id }) => id).sort()).toEqual(names);
    expect(job).toMatchObject({
      exit: 0,
      flow: 'f',
      started_by: { signal: expect.any(String) as string },
    });
    expect(counted).toEqual(['signal started']);
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
