import { describe, expect, it } from 'vitest';
import { flow, job } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

describe('a flow that calls itself', () => {
  it('makes a bounded number of jobs, and the failure says what to do', async () => {
    const space = await openWorkspace();
    const mostDescendants = 40;
    await space.put(flow('f', { parallel: [{ flow: 'f' }, { flow: 'f' }], on_fail: 'wait' }));
    await Promise.all([space.engine({ mostDescendants }), space.engine({ mostDescendants })]);
    await space.put(job('f', { _id: 'root' }));
    expect(await space.ended('root', 240_000)).toMatchObject({
      exit: expect.any(Number) as number,
    });
    const made = await space.store.range('root:');
    expect(made.length).toBeGreaterThan(mostDescendants);
    // For a second an answer is believed; without a limit there would be 2^24 of them.
    expect(made.length).toBeLessThan(20_000);
    const failures = made.flatMap(({ failure }) => failure ?? []) as { name: string }[];
    expect(failures.map(({ name }) => name)).toContain('TooManyJobs');
    expect(JSON.stringify(failures)).toContain('does a flow call itself?');
  }, 300_000);
});
