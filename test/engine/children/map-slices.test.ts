import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const plugins = {
  'double.mjs': `export default ({ params, results }) => {
    if (params.i === params.broken) throw new Error('Item ' + params.i + ' is broken.');
    return { twice: params.n * 2, i: params.i, of: results.first.of };
  };`,
  'first.mjs': `export default () => ({ of: 'before' });`,
  'sums.mjs': `export default ({ results }) => ({
    count: results.all.length,
    sum: results.all.reduce((sum, one) => sum + (one?.twice ?? 0), 0),
    inOrder: results.double.every((one, i) => one === null || one.i === i),
    of: [...new Set(results.all.map((one) => one?.of))],
  });`,
};
const task = (name: string) => ({ _id: `task:DEFAULT:${name}`, type: 'task', name });
const tasks = ['first', 'double', 'sums'].map(task);
const params = { n: '{{item}}', i: '{{index}}', broken: '{{job.params.broken}}' };
const flow = (more: object) => ({
  ...{ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', timeout: 0 },
  tasks: [
    'first',
    {
      name: 'all',
      map: { over: 'params.list', slice: 100, do: { task: 'double', params }, ...more },
    },
    'sums',
  ],
  output: 'results.sums',
});
const list = Array.from({ length: 1_000 }, (_, i) => i);
const job = (broken = -1) => ({ type: 'job', flow: 'f', owner: 'me', params: { list, broken } });

describe('a map over 1,000 items in slices of 100', () => {
  it('gives the results of all items in one list, as if it were one job', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...tasks, flow({}));
    await space.engine({ slots: 20 });
    const [id] = await space.put(job());
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({
      exit: 0,
      result: { count: 1_000, sum: 999_000, inOrder: true, of: ['before'] },
    });
    const slices = ended.steps.filter(({ path }) => String(path).startsWith('1.slice.'));
    expect(slices.map(({ state }) => state)).toEqual(slices.map(() => '$$complete'));
    expect(slices).toHaveLength(10);
    const child = await space.store.get(`${String(id)}:1.slice.7:1`);
    expect(child).toMatchObject({ exit: 0, parent: { job: id, step: '1.slice.7' } });
    expect(child?.['params']).not.toHaveProperty('list');
  });

  it('fails by one item, and a retry goes on with that item only', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...tasks, flow({ limit: 200 }));
    await Promise.all([space.engine({ slots: 20 }), space.engine({ slots: 20 })]);
    const [id] = await space.put(job(512));
    const failed = await space.ended(String(id));
    const message = '1 of 1000 items failed: item 512: Item 512 is broken.';
    expect(failed).toMatchObject({ exit: 2, failure: { message } });
    await space.put({ type: 'request', job: id, action: 'retry', params: { broken: -1 } });
    const ended = await space.until(String(id), (doc) => doc['exit'] === 0);
    expect(ended).toMatchObject({ exit: 0, run: 2, result: { count: 1_000, inOrder: true } });
    const child = await space.store.get(`${String(id)}:1.slice.5:1`);
    expect(child).toMatchObject({ exit: 0, run: 2 });
    const again = (child?.['steps'] as { path: string; run: number }[]).filter(
      ({ run }) => run === 2,
    );
    expect(again.map(({ path }) => path)).toEqual(['1.map.512']);
    expect(await space.store.get(`${String(id)}:1.slice.4:1`)).toMatchObject({ run: 1 });
  });
});
