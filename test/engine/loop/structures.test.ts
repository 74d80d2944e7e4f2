import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const echo = `export default ({ params }) => params;`;
const boom = `export default () => { throw new Error('no'); };`;
const seen = `export default ({ params, results, parent_results }) => ({ params, results, parent_results });`;
const plugins = { 'echo.mjs': echo, 'boom.mjs': boom, 'seen.mjs': seen };

const task = (name: string, more: Record<string, unknown> = {}) => ({
  _id: `task:DEFAULT:${name}`,
  type: 'task',
  name,
  ...more,
});
const flow = (tasks: unknown, more: Record<string, unknown> = {}) => ({
  _id: `flow:me:f`,
  type: 'flow',
  name: 'f',
  owner: 'me',
  tasks,
  ...more,
});
const job = (more: Record<string, unknown> = {}) => ({
  type: 'job',
  flow: 'f',
  owner: 'me',
  ...more,
});
const tasks = [task('echo'), task('boom'), task('seen')];

describe('an engine with structures', () => {
  it('runs an ETL graph and hands results on', async () => {
    const space = await openWorkspace(plugins);
    const transform = (n: number) => ({
      task: 'echo',
      name: `t${n}`,
      params: { n },
      after: ['extract'],
    });
    await space.put(
      ...tasks,
      flow({
        graph: {
          extract: { task: 'echo', params: { rows: 3 } },
          t1: transform(1),
          t2: transform(2),
          t3: transform(3),
          load: { task: 'seen', after: ['t1', 't2', 't3'] },
        },
      }),
    );
    await space.engine();
    const [id] = await space.put(job());
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps.at(-1)?.['result']).toMatchObject({
      results: { echo: { rows: 3 }, t1: { n: 1 }, t2: { n: 2 }, t3: { n: 3 } },
    });
  });

  it('maps over a list with a limit', async () => {
    const space = await openWorkspace(plugins);
    const each = { task: 'echo', params: { it: '{{item}}', i: '{{index}}' } };
    await space.put(
      ...tasks,
      flow([{ name: 'all', map: { over: 'params.list', limit: 3, do: each } }, 'seen'], {
        timeout: 0,
      }),
    );
    await space.engine();
    const list = Array.from({ length: 20 }, (_, i) => `x${i}`);
    const [id] = await space.put(job({ params: { list } }));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps.at(-1)?.['result']).toMatchObject({
      results: { all: list.map((it, i) => ({ it, i })) },
    });
  });

  // Shows H-02.
  it('waits for a signal that is stored as a document, also when it came first', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...tasks, flow([{ wait: { signal: 'go' } }, 'seen']));
    await space.engine();
    await space.put({ type: 'signal', job: 'late', name: 'go', data: { by: 'early' } });
    await space.put(job({ _id: 'late' }));
    const ended = await space.ended('late');
    expect(ended.steps.at(-1)?.['result']).toMatchObject({ results: { wait: { by: 'early' } } });
    expect(ended).toMatchObject({ signals: [{ name: 'go', data: { by: 'early' } }] });
    await space.put(job({ _id: 'soon' }));
    await space.until('soon', (doc) => doc['state'] === 'wait-0');
    await space.put({ type: 'signal', job: 'soon', name: 'go', data: 7 });
    expect((await space.ended('soon')).steps[0]?.['result']).toBe(7);
  });

  // Shows H-04.
  it('releases every job that waits for an event, also later ones', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...tasks, flow([{ wait: { event: 'paid', key: '{{job.params.order}}' } }]));
    await space.engine();
    await space.put(job({ _id: 'one', params: { order: '7' } }));
    await space.put(job({ _id: 'two', params: { order: '8' } }));
    await space.until('one', (doc) => doc['state'] === 'wait-0');
    await space.put({ _id: 'event:paid:7', type: 'event', event: 'paid', key: '7', data: 3 });
    expect((await space.ended('one')).steps[0]?.['result']).toBe(3);
    await space.put(job({ _id: 'three', params: { order: '7' } }));
    expect(await space.ended('three')).toMatchObject({ exit: 0 });
  });

  // Shows H-07.
  it('races a timer against a signal and cancels the loser', async () => {
    const space = await openWorkspace(plugins);
    const race = {
      parallel: [{ wait: { signal: 's' } }, { delay: 200 }],
      join: 'any',
      cancel_rest: true,
    };
    await space.put(...tasks, flow([race, 'echo']));
    await space.engine();
    await space.put(job({ _id: 'j' }));
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 0 });
    expect(ended.steps.map(({ state }) => state)).toEqual([
      '$$cancelled',
      '$$complete',
      '$$complete',
    ]);
  });

  // Shows X-25.
  it('undoes what a failed flow did', async () => {
    const space = await openWorkspace(plugins);
    await space.put(
      ...tasks,
      flow([
        { task: 'echo', name: 'a', undo: 'seen' },
        { task: 'echo', name: 'b', undo: 'seen' },
        'boom',
      ]),
    );
    await space.engine();
    await space.put(job({ _id: 'j' }));
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ exit: 2 });
    expect(ended.steps.map((step) => step['path'])).toEqual(['0', '1', '2', '1.undo', '0.undo']);
  });

  // Shows X-24.
  it('cancels children with their parent', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...tasks, flow([{ flow: 'child' }]), {
      ...flow([{ wait: { signal: 'never' } }]),
      _id: 'flow:me:child',
      name: 'child',
    });
    await space.engine();
    await space.put(job({ _id: 'j' }));
    await space.until('j:0:1', (doc) => doc['state'] === 'wait-0');
    await space.put({ type: 'request', job: 'j', action: 'cancel', reason: 'enough' });
    expect(await space.ended('j')).toMatchObject({ state: '$$cancelled' });
    expect(await space.ended('j:0:1')).toMatchObject({ state: '$$cancelled' });
  });

  it('goes on with a failed job after a retry, with the latest definitions', async () => {
    const space = await openWorkspace(plugins);
    await space.put(...tasks, flow(['echo', 'boom', 'seen']));
    await space.engine();
    await space.put(job({ _id: 'j' }));
    const before = await space.ended('j');
    expect(before).toMatchObject({ exit: 2 });
    const boomTask = await space.store.get('task:DEFAULT:boom');
    await space.store.write({ ...boomTask, plugin: 'echo' } as never);
    await space.put({ type: 'request', job: 'j', action: 'retry', latest: true });
    const ended = await space.until('j', (doc) => doc['exit'] === 0);
    expect((ended['steps'] as { path: string }[]).map(({ path }) => path)).toEqual([
      '0',
      '1',
      '1',
      '2',
    ]);
  });
});
