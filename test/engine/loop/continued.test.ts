import { describe, expect, it } from 'vitest';
import { requestJob } from '../../../src/client/requests.js';
import { sendSignal } from '../../../src/client/messages.js';
import { watchJob } from '../../../src/client/watch.js';
import { flow, job } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

/** Goes on as a new job twice; then waits for the signal `go`, and fails when it says so. */
const next = `export default ({ params, job, history }) => {
  if (!job._id.endsWith('~3')) return { continue_as_new: { n: (params.n ?? 0) + 1 } };
  return [{ complete: { last: job._id } }];
};`;
const definitions = [
  flow('inner', [{ decider: 'next' }, { wait: { signal: 'go' } }, { task: 'last', name: 'last' }], {
    output: { last: 'results.last' },
  }),
  flow('outer', [{ flow: 'inner', name: 'child' }]),
  { _id: 'task:last', type: 'task', name: 'last' },
];
const last = `export default ({ job }) => {
  if (job.signals[0].data === 'fail') throw new Error('It fails at the end.');
  return job._id;
};`;

async function open(): Promise<Workspace> {
  const space = await openWorkspace({ 'next.mjs': next, 'last.mjs': last });
  await space.put(...definitions, job('outer', { _id: 'p' }));
  await space.engine();
  await space.until('p:0:1~3', ({ state }) => state === 'wait-1');
  return space;
}

describe('a job that goes on as new ones', () => {
  // Shows K-04.
  it('has its parent wait for the last of them, whose result counts', async () => {
    const space = await open();
    expect(await space.store.get('p')).toMatchObject({ steps: [{ state: '$$waiting' }] });
    await sendSignal(space.store, { job: 'p:0:1', name: 'go' });
    expect(await space.ended('p')).toMatchObject({
      exit: 0,
      steps: [{ result: { last: 'p:0:1~3' } }],
    });
  });

  it('fails its parent when the last of them fails, and goes on when the parent is retried', async () => {
    const space = await open();
    await sendSignal(space.store, { job: 'p:0:1', name: 'go', data: 'fail' });
    const ended = await space.ended('p');
    expect(ended).toMatchObject({ exit: 2, failure: { name: 'ChildFailed' } });
    expect(ended.failure?.message).toContain('p:0:1~3');
    await requestJob(space.store, 'p', 'retry');
    await space.until('p:0:1~3', ({ run }) => run === 2);
    const again = await space.until('p', ({ run, state }) => run === 2 && state === '$$complete');
    expect(again).toMatchObject({ exit: 2 });
  });

  it('is cancelled in the last of them, by its parent as by a request to the first', async () => {
    const space = await open();
    await requestJob(space.store, 'p', 'cancel');
    expect(await space.ended('p:0:1~3')).toMatchObject({ state: '$$cancelled' });
    expect(await space.ended('p')).toMatchObject({ state: '$$cancelled' });
    await space.put(job('inner', { _id: 'q' }));
    await space.until('q~3', ({ state }) => state === 'wait-1');
    await space.put({ _id: 'r', type: 'request', job: 'q', action: 'cancel' });
    expect(await space.ended('q~3')).toMatchObject({ state: '$$cancelled' });
  });

  it('is watched to the end of the last of them', async () => {
    const space = await open();
    const watched = watchJob(space.store, 'p:0:1');
    await sendSignal(space.store, { job: 'p:0:1~3', name: 'go', data: 'fail' });
    expect(await watched).toMatchObject({ _id: 'p:0:1~3', exit: 2 });
  });

  it('fails its parent when the job as which it goes on is gone', async () => {
    const space = await open();
    const doc = await space.store.get('p:0:1~3');
    await space.store.remove('p:0:1~3', String(doc?._rev));
    await requestJob(space.store, 'p', 'note', { text: 'Look again.' });
    const ended = await space.ended('p');
    expect(ended).toMatchObject({ exit: 2, failure: { name: 'ChildFailed' } });
    expect(ended.failure?.message).toContain('is not there any more');
  });
});
