import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../support/workspace.js';

const plugins = { 'echo.mjs': `export default ({ params }) => ({ got: params.n ?? null });` };
const task = { _id: 'task:DEFAULT:echo', type: 'task', name: 'echo' };
const flow = (name: string, tasks: unknown, more = {}) => ({
  ...{ _id: `flow:me:${name}`, type: 'flow', name, owner: 'me', tasks },
  ...more,
});
const inner = flow('inner', ['echo'], { output: 'results.echo' });
const params = { echo: { n: '{{job.params.n}}' } };

describe('a job with a child flow', () => {
  it('has its own child also when a former job of its id has left one', async () => {
    const space = await openWorkspace(plugins);
    await space.put(task, inner, flow('outer', [{ flow: 'inner', params }]));
    await space.engine();
    const job = { _id: 'nightly', type: 'job', flow: 'outer', owner: 'me' };
    await space.put({ ...job, params: { n: 1 } });
    const one = await space.ended('nightly');
    expect(one.steps).toMatchObject([{ child: 'nightly:0:1', result: { got: 1 } }]);
    await space.store.remove('nightly', one._rev);
    await space.put({ ...job, params: { n: 2 } });
    const two = await space.until(
      'nightly',
      (doc) => doc['state'] === '$$complete' && doc._rev !== one._rev,
    );
    expect(two['steps']).toMatchObject([
      { child: `nightly:0:1:${String(two['start'])}`, result: { got: 2 } },
    ]);
  });
});
