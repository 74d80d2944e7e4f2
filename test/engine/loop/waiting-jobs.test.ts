import { describe, expect, it } from 'vitest';
import { explainJob } from '../../../src/client/explain-job.js';
import { sendSignal } from '../../../src/client/messages.js';
import { statusOf } from '../../../src/reading/status.js';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

describe('a job that is not to begin yet', () => {
  it('waits for a flow that is not stored yet, and runs when it has come', async () => {
    const space = await openWorkspace({ 'echo.mjs': 'export default () => 1;' });
    await space.put(
      job('late', { _id: 'paused', paused: true }),
      job('late', { _id: 'timed', exec_after: '2099-01-01T00:00:00Z' }),
      job('late', { _id: 'now' }),
    );
    await space.engine({ sweepMs: 200 });
    expect(await space.ended('now')).toMatchObject({ failure: { name: 'FlowMissing' } });
    await space.put(task('echo'), flow('late', ['echo']));
    const changes = { paused: { paused: false }, timed: { exec_after: 0 } };
    for (const [id, change] of Object.entries(changes)) {
      const held = await space.until(id, ({ state }) => state !== undefined);
      expect(held['exit']).toBeUndefined();
      await space.put({ ...held, ...change });
      expect(await space.ended(id)).toMatchObject({ exit: 0 });
    }
  });
});

describe('a decider that asks for nothing', () => {
  it('has its job wait for a signal, and explain says so', async () => {
    const boss = `export default ({ job }) =>
      (job.signals ?? []).length === 0 ? [] : { complete: job.signals[0].data };`;
    const space = await openWorkspace({ 'boss.mjs': boss });
    await space.put(flow('f', [{ decider: 'boss' }], { timeout: 500, output: 'results.boss' }));
    await space.put(job('f', { _id: 'j' }));
    await space.engine();
    const waiting = await space.until('j', (doc) => JSON.stringify(doc).includes('.news.'));
    expect(statusOf({ steps: waiting['steps'] }, Date.now())).toBe('waiting');
    const { reasons } = await explainJob(space.store, 'j');
    expect(reasons).toMatchObject([
      { kind: 'waiting', because: expect.stringContaining('waits for any signal') as string },
    ]);
    await sendSignal(space.store, { job: 'j', name: 'any', data: 7 });
    expect(await space.ended('j')).toMatchObject({ exit: 0, result: 7 });
  });
});
