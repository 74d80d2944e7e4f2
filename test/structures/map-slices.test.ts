import { describe, expect, it } from 'vitest';
import type { Slice } from '../../src/model/job.js';
import { widest } from '../../src/model/limits.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { t0, task } from '../support/builders.js';
import { family, type End, type Family } from '../decide/family.js';
import { begun, endings, type Setting } from '../decide/story.js';

const each = { task: 'a', params: { n: '{{item}}', i: '{{index}}' } };
const list = [10, 20, 30, 40, 50];

/** A map in slices of two, with a step before it and one behind. */
const sliced = (more: object = {}, setting: Partial<Setting> = {}, name: object = {}): Family =>
  family([{ map: { over: list, slice: 2, do: each, ...more }, ...name }, 'd'], setting);

const ending = (told: Family) => {
  const { state, exit, failure } = told.job();
  return { state, exit, failure: failure?.name };
};

describe('a map in slices', () => {
  it('goes over a list that is longer than a slice in child jobs', () => {
    const told = sliced();
    expect(told.made).toEqual(['j', 'j:0.slice.0:1', 'j:0.slice.1:1', 'j:0.slice.2:1']);
    expect(told.open()).toEqual(['0.slice.0', '0.slice.1', '0.slice.2']);
    expect(
      told.story().steps.map(({ path, name, task: of, state }) => [path, name, of, state]),
    ).toEqual([
      ['0', 'map', 'map', '$$complete'],
      ['0.slice.0', 'map', 'map', '$$waiting'],
      ['0.slice.1', 'map', 'map', '$$waiting'],
      ['0.slice.2', 'map', 'map', '$$waiting'],
    ]);
    expect(told.endAll().story().running).toEqual([]);
    expect(ending(told)).toEqual(endings.well);
  });

  it('gives each item the item, its number in the whole list and the path that it has there', () => {
    const told = sliced();
    expect(told.story('j:0.slice.1:1').steps).toMatchObject([
      { path: '0.map.2', index: 0, name: 'a', params: { n: 30, i: 2 } },
      { path: '0.map.3', index: 0, name: 'a', params: { n: 40, i: 3 } },
    ]);
    expect(told.story('j:0.slice.2:1').steps).toMatchObject([
      { path: '0.map.4', params: { n: 50, i: 4 } },
    ]);
  });

  it.each([
    ['as long as a slice', [1, 2]],
    ['shorter', [1]],
    ['empty', []],
  ])('works on a list that is %s in the job itself', (_title, over) => {
    const told = sliced({ over });
    expect(told.made).toEqual(['j']);
    expect(ending(told.endAll())).toEqual(endings.well);
  });

  it('begins a child that is a copy of its parent but for what is its own', () => {
    const told = family([{ map: { over: 'x', slice: 1, do: 'a' }, name: 'all' }], {
      job: {
        ...{ owner: 'acme', priority: 7, queue: 'slow', keys: { order: 1 }, colour: 'red' },
        ...{ params: { a: { p: 1 }, list: { of: [1, 2] }, all: [1, 2], two: [2, 1] } },
        ...{ target: 't', external_id: 'x-1', tags: ['x'] },
      },
      flow: {
        ...{ error: 'h', cancel: 'c', output: 'results', retry: { limit: 3, delay: 50 } },
        ...{ timeout: 9000, errors: { X: { severity: 'warning' } } },
      },
      tasks: [task('h'), task('c')],
      world: { queues: ['slow'], answers: { '0.map.over': { ok: true, value: [1, 2] } } },
    });
    const child = told.job('j:0.slice.1:1') as Readonly<Record<string, unknown>>;
    expect(child).toMatchObject({
      ...{ type: 'job', flow: 'f', owner: 'acme', priority: 7, queue: 'slow', colour: 'red' },
      ...{ keys: { order: 1 }, tags: ['x'], run: 1, flow_rev: '3-flow' },
      parent: { job: 'j', step: '0.slice.1', queue: 'slow' },
      flow_definition: {
        ...{ name: 'f', timeout: 9000, retry: { limit: 0, delay: 50 } },
        errors: { X: { severity: 'warning' } },
      },
    });
    expect(child['params']).toEqual({ a: { p: 1 }, 'a-0': { p: 1 }, list: {}, two: [2, 1] });
    for (const key of ['target', 'external_id', 'locked']) expect(child).not.toHaveProperty(key);
    for (const key of ['error', 'cancel', 'output']) {
      expect(child['flow_definition']).not.toHaveProperty(key);
    }
  });

  it('has params only when its parent has', () => {
    const told = sliced();
    told.edit({ params: undefined });
    told.lose('j:0.slice.1:1').go();
    expect(told.job('j:0.slice.1:1')).not.toHaveProperty('params');
  });

  it('makes a child of its own where a former job of that id has left one', () => {
    const told = sliced();
    const left = { ...told.job('j:0.slice.1:1'), _rev: undefined } as unknown as StoredDocument;
    const other = { ...left, parent: { job: 'j', step: '0.slice.1', start: t0 - 1 } };
    told.lose('j:0.slice.1:1').store(other).go();
    expect(told.made).toContain(`j:0.slice.1:1:${t0}`);
    expect(told.story().steps.find(({ path }) => path === '0.slice.1')).toMatchObject({
      child: `j:0.slice.1:1:${t0}`,
    });
  });

  it('makes a new child when it goes on and another job has left one of that id', () => {
    const told = sliced().endAll((path): End => (path === '0.map.3' ? { failure: 'Broken' } : {}));
    const parent = { job: 'j', step: '0.slice.1', start: t0 - 1 };
    told.edit({ parent }, 'j:0.slice.1:1').edit({ retry: true });
    expect(told.made).toContain('j:0.slice.1:2');
  });

  it('makes a child again that got lost', () => {
    const told = sliced().endAll((path) => (path === '0.map.0' ? { result: 'kept' } : {}));
    expect(ending(told)).toEqual(endings.well);
    const other = sliced().end('0.map.2', { result: 1 });
    other.lose('j:0.slice.1:1').go();
    expect(other.story('j:0.slice.1:1').steps.map(({ path, state }) => [path, state])).toEqual([
      ['0.map.2', '$$active'],
      ['0.map.3', '$$active'],
    ]);
  });

  it('tells of a slice that it makes again because the document was deleted', () => {
    const told = begun([{ map: { over: list, slice: 2, do: 'a' } }]);
    const live = { kind: 'live' } as const;
    const deleted = { kind: 'absent', deleted: true } as const;
    told.with({
      children: { 'j:0.slice.0:1': live, 'j:0.slice.1:1': deleted, 'j:0.slice.2:1': live },
    });
    expect(told.go()).toMatchObject({ kind: 'spawn', children: [{ _id: 'j:0.slice.1:1' }] });
    const i = told.steps.findIndex(({ child }) => child === 'j:0.slice.1:1');
    const message = expect.stringContaining('child job j:0.slice.1:1') as unknown;
    expect(told.job).toMatchObject({ problems: [{ path: `steps[${i}].child`, message }] });
  });

  it('looks for its children', () => {
    const told = begun([{ map: { over: list, slice: 2, do: 'a' } }]);
    expect(told.decide()).toMatchObject({
      kind: 'look_up',
      children: ['j:0.slice.0:1', 'j:0.slice.1:1', 'j:0.slice.2:1'],
    });
  });
});

describe('the results of a map in slices', () => {
  const seeing = {
    task: 'd',
    params: { all: '{{results}}', by: '{{parent_results}}' },
    stdio: { stdout: 'last' },
  };
  /** The same map in one job and in slices: what the step behind it sees. */
  const seen = (each: WrittenNode, ends: (path: string) => End, more: object = {}): unknown[] =>
    [undefined, 2].map((slice) => {
      const map = { over: list, do: each, ...(slice === undefined ? {} : { slice }), ...more };
      const told = family(['z', { map, name: 'all' }, seeing]);
      told.end('0', { result: 'first' });
      while (!told.open().includes('2'))
        told.end(String(told.running[0]), ends(String(told.running[0])));
      return told.story().live.params;
    });

  it.each<[what: string, each: WrittenNode, more?: object]>([
    ['an entry', 'a'],
    ['an entry with a name', { task: 'a', name: 'bee' }],
    ['a sequence', ['a', { task: 'b', name: 'bee' }]],
    ['nodes beside each other', { parallel: ['a', 'b'], name: 'both' }],
    ['a map', { map: { over: [1, 2], do: 'a' }, name: 'inner' }],
    ['a map in slices', { map: { over: [1, 2, 3], slice: 2, do: 'a' }, name: 'inner' }],
    ['something that fails now and then', ['a', 'b'], { tolerate: 4 }],
  ])('are those of one job: %s', (_what, each, more) => {
    const [whole, parts] = seen(
      each,
      (path) =>
        more !== undefined && /map\.[13]\.sequence\.1$/.test(path)
          ? { failure: 'X' }
          : { result: path },
      more,
    );
    expect(parts).toEqual(whole);
    expect((whole as { last: unknown[] }).last).toHaveLength(5);
  });

  it('are nothing where slices told nothing', () => {
    const told = family([
      { map: { over: list, slice: 2, do: ['a'], on_fail: 'ignore' }, name: 'all' },
      seeing,
    ]);
    told.edit({ cancel: true }, 'j:0.slice.0:1');
    told.endAll((path) => (path === '1' ? {} : { result: path }));
    expect(told.story().steps.at(-1)?.['params']).toMatchObject({
      all: { all: [null, null, '0.map.2.sequence.0', '0.map.3.sequence.0', '0.map.4.sequence.0'] },
    });
  });

  it('are attachments where they are long, of the child and of the parent', () => {
    const long = 'x'.repeat(40_000);
    const told = family([{ map: { over: list, slice: 2, do: 'a' } }, seeing]);
    told.endAll(() => ({ result: long }));
    expect(told.story().steps[1]).toMatchObject({
      path: '0.slice.0',
      result: { $attachment: 'result-0.slice.0-1.json' },
    });
    expect(told.story().steps.at(-1)?.['params']).toMatchObject({ last: list.map(() => long) });
  });
});

describe('what a slice sees of what was done before', () => {
  const look = {
    task: 'a',
    params: { all: '{{results}}', by: '{{parent_results}}', p: '{{job.params.p}}' },
  };

  it('is what one job would see', () => {
    const told = family(['z', ['y', { map: { over: list, slice: 2, do: ['b', look] } }]], {
      job: { params: { p: 1 } },
    });
    told.end('0', { result: 'zz' }).end('1.sequence.0', { result: 'yy' });
    told.end('1.sequence.1.map.3.sequence.0', { result: 'mine' });
    const at = '1.sequence.1.map.3.sequence.1';
    expect(told.story('j:1.sequence.1.slice.1:1').liveAt(at).params).toEqual({
      all: { z: 'zz', 'z-0': 'zz', y: 'yy', 'y-1': 'yy', b: 'mine', 'b-2': 'mine' },
      by: { 0: 'zz', 1: 'yy', 2: 'mine' },
      p: 1,
    });
  });

  it('has the items of the maps around it and the round of a loop', () => {
    const inner = {
      map: {
        over: [7, 8, 9],
        as: 'column',
        slice: 2,
        do: { task: 'a', params: { is: '{{row}}/{{column}}/{{round}}' } },
      },
    };
    const told = family([
      { loop: { max: 1, do: { map: { over: ['x', 'y'], as: 'row', slice: 1, do: inner } } } },
    ]);
    const id = 'j:0.loop.0.slice.1:1:0.loop.0.map.1.slice.1:1';
    expect(told.story(id).live).toMatchObject({
      path: '0.loop.0.map.1.map.2',
      params: { is: 'y/9/0' },
    });
    expect((told.job(id)['slice'] as Slice).before).toMatchObject([
      { structure: 'loop' },
      { structure: 'map', path: '0.loop.0', result: { items: ['y'], from: 1 } },
      { structure: 'map', path: '0.loop.0.map.1', result: { items: [9], from: 2 } },
    ]);
    expect(ending(told.endAll())).toEqual(endings.well);
  });

  it('has the item of a map at the root', () => {
    const inner = { map: { over: list, slice: 2, do: { task: 'a', params: { is: '{{row}}' } } } };
    const tasks = { map: { over: ['x', 'y'], as: 'row', do: inner } };
    const told = family([], { flow: { tasks } });
    expect(told.story('j:map.1.slice.2:1').live).toMatchObject({
      path: 'map.1.map.4',
      params: { is: 'y' },
    });
    expect(ending(told.endAll())).toEqual(endings.well);
  });

  it('has how many items a map had that was done, not the items', () => {
    const told = family([
      { map: { over: [1, 2, 3], do: 'b' } },
      { map: { over: list, slice: 2, do: { task: 'a', params: { b: '{{results.b}}' } } } },
    ]);
    for (const i of [0, 1, 2]) told.end(`0.map.${i}`, { result: i });
    expect(told.story('j:1.slice.0:1').live.params).toEqual({ b: [0, 1, 2] });
    expect((told.job('j:1.slice.0:1')['slice'] as Slice).before[0]).toMatchObject({
      result: { count: 3 },
    });
  });

  it('leaves out the list itself, wherever it is', () => {
    const steps: WrittenNode[] = [
      'z',
      'y',
      {
        map: {
          over: 'results.z.rows',
          slice: 2,
          do: { task: 'a', params: { z: '{{results.z}}' } },
        },
      },
    ];
    const told = family(steps, { world: { answers: { '2.map.over': { ok: true, value: list } } } });
    told.end('0', { result: { rows: list, of: 'z' } }).end('1', { result: list });
    expect(told.story('j:2.slice.0:1').live.params).toEqual({ z: { of: 'z' } });
    expect((told.job('j:2.slice.0:1')['slice'] as Slice).before[1]).not.toHaveProperty('result');
  });

  it('keeps long results as attachments of each child', () => {
    const text = 'y'.repeat(40_000);
    const big = { result: { text } };
    const look = {
      task: 'a',
      params: { y: '{{results.y.text}}', z: '{{results.z.text}}', x: '{{results.x}}' },
    };
    const told = family(['z', 'y', 'x', { map: { over: list, slice: 2, do: look } }]);
    told.end('0', big).end('1', big).end('2', { result: 'short' });
    const { slice, _attachments } = told.job('j:3.slice.0:1') as Readonly<Record<string, unknown>>;
    expect((slice as Slice).before).toMatchObject([
      { result: { $attachment: 'result-0-1.json' } },
      { result: { $attachment: 'result-1-1.json' } },
      { result: 'short' },
      { structure: 'map' },
    ]);
    expect(Object.keys(_attachments as object)).toEqual(['result-0-1.json', 'result-1-1.json']);
    expect(told.story('j:3.slice.0:1').live.params).toEqual({ x: 'short', y: text, z: text });
  });

  it('is read first where it is kept as an attachment', () => {
    const again = begun(['z', { map: { over: list, slice: 2, do: 'a' } }]);
    again.edit({
      steps: [
        {
          ...again.last,
          state: '$$complete',
          end: 1,
          exit: 0,
          result: { $attachment: 'result-0-1.json', bytes: 70_000 },
        },
      ],
      _attachments: { 'result-0-1.json': { stub: true } },
    });
    expect(again.decide()).toMatchObject({
      kind: 'look_up',
      attachments: ['result-0-1.json', 'result-0-1.json', 'result-0-1.json'],
    });
    again.with({ contents: { 'result-0-1.json': { text: 'x'.repeat(70_000) } } });
    expect(again.decide()).toMatchObject({ kind: 'spawn' });
  });
});

/** Some items fail, whenever they are worked on. */
const broken =
  (...items: readonly number[]) =>
  (path: string): End =>
    items.some((i) => path === `0.map.${i}`) ? { failure: 'Broken' } : { result: path };

describe('a slice that ends', () => {
  it('reads the results of its items first where they are attachments', () => {
    const told = family([{ map: { over: [1, 2, 3], slice: 2, do: 'a' } }]);
    const child = told.story('j:0.slice.0:1').did('0.map.0');
    const name = 'result-0.map.0-1.json';
    const steps = child.steps.map((step) =>
      step.path === '0.map.0' ? { ...step, result: { $attachment: name, bytes: 70_000 } } : step,
    );
    child.edit({ steps, _attachments: { [name]: { stub: true } } });
    child.did('0.map.1', 'short');
    expect(child.decide()).toMatchObject({ kind: 'look_up', attachments: [name] });
    child.with({ contents: { [name]: 'long' } }).go();
    expect(child.job).toMatchObject({ exit: 0, result: { items: ['long', 'short'] } });
  });
});

describe('failures in the slices of a map', () => {
  const outcomes: readonly (readonly [string, object, readonly number[], boolean])[] = [
    ['none are tolerated by default', {}, [3], false],
    ['as many as tolerate says, in two slices', { tolerate: 2 }, [0, 3], true],
    ['one more than tolerate says, in two slices', { tolerate: 1 }, [0, 3], false],
    ['one more than tolerate says, in one slice', { tolerate: 1 }, [2, 3], false],
    ['more than there are', { tolerate: 9 }, [0, 1, 2, 3, 4], true],
    ['a share of the whole list, rounded down', { tolerate: '40%' }, [0, 1], true],
    ['a share that is too small', { tolerate: '39%' }, [0, 1], false],
    ['any number with on_fail ignore', { on_fail: 'ignore' }, [0, 1, 2, 3, 4], true],
  ];

  it.each(outcomes)('count by items over all slices: %s', (_title, more, items, isDone) => {
    const told = sliced(more).endAll(broken(...items));
    expect(ending(told)).toEqual(isDone ? endings.well : endings.badly);
    const whole = family([{ map: { over: list, do: each, ...more } }, 'd']).endAll(
      broken(...items),
    );
    expect(ending(whole)).toEqual(ending(told));
  });

  it('are told by the step of the slice and by its job', () => {
    const told = sliced({ tolerate: 3 }).endAll(broken(0, 1, 4));
    const failure = { name: 'Broken', message: 'item 0: It is Broken.', step: 'a' };
    expect(told.story().steps).toMatchObject([
      {},
      { path: '0.slice.0', state: '$$complete', failed: 2, warning: failure },
      { path: '0.slice.1', state: '$$complete' },
      { path: '0.slice.2', state: '$$complete', failed: 1 },
      {},
    ]);
    expect(told.story().steps[2]).not.toHaveProperty('failed');
    expect(told.job('j:0.slice.0:1')).toMatchObject({ exit: 0, slice: { failed: 2, failure } });
  });

  it('end the flow with the failure of the item, not of the child job', () => {
    const told = sliced().endAll(broken(3));
    const failure = { name: 'Broken', step: 'a' };
    expect(told.job()).toMatchObject({ exit: 2, failure });
    expect(told.job('j:0.slice.1:1')).toMatchObject({ exit: 2, failure, slice: { failed: 1 } });
    expect(told.job('j:0.slice.1:1').result).toEqual({ items: ['0.map.2', null] });
  });

  it('keep no other slice from being worked on', () => {
    const told = sliced().end('0.map.0', { failure: 'Broken' });
    expect(told.running).toEqual(['0.map.1', '0.map.2', '0.map.3', '0.map.4']);
  });

  it('cancel the other slices with on_fail cancel_rest, once they are more than tolerated', () => {
    const told = sliced({ on_fail: 'cancel_rest', tolerate: 1 });
    told.end('0.map.0', { failure: 'Broken' }).end('0.map.1');
    expect(told.running).toEqual(['0.map.2', '0.map.3', '0.map.4']);
    told.end('0.map.4', { failure: 'Broken' });
    expect(ending(told)).toEqual(endings.badly);
    expect(told.given).toEqual(['j:0.slice.1:1']);
  });

  it('within one slice cancel the rest of it with on_fail cancel_rest', () => {
    const told = sliced({ on_fail: 'cancel_rest', slice: 3 });
    told.end('0.map.0', { failure: 'Broken' });
    expect(told.job('j:0.slice.0:1')).toMatchObject({ exit: 2, slice: { failed: 3 } });
    expect(ending(told)).toEqual(endings.badly);
  });

  it('may all be left to the map being optional', () => {
    const told = sliced({}, {}, { optional: true }).endAll(broken(0, 1, 2));
    expect(ending(told)).toEqual(endings.well);
  });

  it('count all items of a slice that ended without going over them', () => {
    const told = sliced({ tolerate: 1 }).edit({ cancel: { by: 'ada' } }, 'j:0.slice.2:1');
    expect(ending(told.endAll())).toEqual(endings.well);
    const other = sliced({ tolerate: 1 }).edit({ cancel: true }, 'j:0.slice.0:1').endAll();
    expect(other.job()).toMatchObject({ exit: 130, failure: { name: 'Cancelled' } });
  });

  it('say how a child ended that says nothing itself', () => {
    const told = sliced();
    const { _rev, _id, parent } = told.job('j:0.slice.1:1');
    told.store({ _id, _rev, parent, type: 'job', state: '$$complete' }).endAll();
    expect(told.job()).toMatchObject({
      exit: 2,
      failure: {
        name: 'ChildFailed',
        message: '2 of 5 items failed: The child job j:0.slice.1:1 failed: exit 2.',
      },
    });
  });
});

describe('a map in slices in a further run of the flow', () => {
  const flow = { flow: { retry: 1 } };
  const once = (...items: readonly number[]) => {
    const left = new Set(items.map((i) => `0.map.${i}`));
    return (path: string): End => (left.delete(path) ? { failure: 'Broken' } : { result: path });
  };

  it('goes on with the items that failed, in the jobs that are there', () => {
    const told = sliced({}, flow);
    told.endAll((path) => (path === '0.map.3' ? { failure: 'Broken' } : { result: path }));
    expect(ending(told)).toEqual(endings.badly);
    const job = told.story('j:0.slice.1:1');
    expect(job.steps.map(({ path, run, state }) => [path, run, state])).toEqual([
      ['0.map.2', 1, '$$complete'],
      ['0.map.3', 1, '$$error'],
      ['0.map.3', 2, '$$error'],
    ]);
    expect(told.made).toHaveLength(4);
    expect(
      told
        .story()
        .steps.slice(1)
        .map(({ path, run, child_run: of }) => [path, run, of]),
    ).toEqual([
      ['0.slice.0', 1, undefined],
      ['0.slice.1', 1, undefined],
      ['0.slice.2', 1, undefined],
      ['0.slice.1', 2, 2],
    ]);
  });

  it('ends well when they succeed then', () => {
    const told = sliced({}, flow).endAll(once(3, 4));
    expect(ending(told)).toEqual(endings.well);
    expect(told.job('j:0.slice.1:1')).toMatchObject({ exit: 0, run: 2 });
    expect(told.job('j:0.slice.1:1')['slice']).not.toHaveProperty('failed');
  });

  it('does again what one slice alone would tolerate, when all together were too many', () => {
    const told = sliced({ tolerate: 1 }, flow).endAll(once(0, 2));
    expect(ending(told)).toEqual(endings.well);
    expect(told.job('j:0.slice.0:1')).toMatchObject({ exit: 0, run: 2 });
  });

  it('does nothing again of what was tolerated', () => {
    const told = sliced({ tolerate: 1 }, flow);
    let hasFailed = false;
    told.endAll((path) => {
      if (path === '1' && hasFailed) return { result: 'well' };
      hasFailed ||= path === '1';
      return ['0.map.0', '1'].includes(path) ? { failure: 'Broken' } : { result: path };
    });
    expect(ending(told)).toEqual(endings.well);
    expect(told.job('j:0.slice.0:1')).toMatchObject({ run: 1 });
  });

  it('takes what a child came to that was retried by itself', () => {
    const told = sliced().endAll(broken(3));
    expect(ending(told)).toEqual(endings.badly);
    told.edit({ retry: true }, 'j:0.slice.1:1').endAll();
    expect(told.job('j:0.slice.1:1')).toMatchObject({ exit: 0, run: 2 });
    told.edit({ retry: true }).endAll();
    expect(ending(told)).toEqual(endings.well);
    expect(told.story().steps.at(-2)).toMatchObject({ path: '0.slice.1', attempt: 2 });
    expect(told.job('j:0.slice.1:1')).toMatchObject({ run: 2 });
  });

  it('looks for the child of the run before', () => {
    const told = sliced().endAll(broken(3)).story();
    told.with({ children: {} }).edit({ retry: true }).go();
    expect(told.decide()).toMatchObject({ kind: 'look_up', children: ['j:0.slice.1:1'] });
  });

  it('waits for a child that goes on already', () => {
    const told = sliced().endAll(broken(3));
    told.edit({ retry: true }, 'j:0.slice.1:1').edit({ retry: true });
    expect(told.running).toEqual(['0.map.3']);
    expect(told.story().steps.at(-1)).toMatchObject({ child: 'j:0.slice.1:1', state: '$$waiting' });
    expect(ending(told.endAll())).toEqual(endings.well);
  });

  it('makes the job of a slice anew that is gone', () => {
    const told = sliced().endAll(broken(3));
    told.lose('j:0.slice.1:1').edit({ retry: true });
    expect(told.running).toEqual(['0.map.2', '0.map.3']);
    expect(told.made.at(-1)).toBe('j:0.slice.1:2');
  });

  it('hands changed parameters and the latest definitions down', () => {
    const told = sliced({}, { job: { params: { a: { x: 1 } } } });
    told.endAll(broken(3));
    told.edit({ retry: { latest: true, params: { a: { x: 2 } } } });
    expect(told.story('j:0.slice.1:1').live).toMatchObject({ path: '0.map.3', params: { x: 2 } });
  });

  it('asks once more when the wish got lost, and fails when it is refused', () => {
    const told = sliced().endAll(broken(3));
    const ended = told.job('j:0.slice.1:1');
    told.edit({ retry: true });
    expect(told.open('j:0.slice.1:1')).toEqual(['0.map.3']);
    told.store(ended).go();
    expect(told.open('j:0.slice.1:1')).toEqual(['0.map.3']);
    const asked = told.story().with({
      children: { 'j:0.slice.1:1': { kind: 'final', job: { ...ended, retry: true } } },
    });
    expect(asked.decide().kind).toBe('wait');
    told.store({ ...ended, retry_refused: 'no' }).go();
    expect(ending(told)).toEqual(endings.badly);
  });

  it('is done anew from a step in it on, all slices of it', () => {
    const told = sliced().endAll();
    told.edit({ retry: { from: 'a' } });
    expect(told.made.slice(4)).toEqual(['j:0.slice.0:2', 'j:0.slice.1:2', 'j:0.slice.2:2']);
    expect(ending(told.endAll())).toEqual(endings.well);
    told.edit({ retry: { from: 'd' } });
    expect(told.running).toEqual(['1']);
  });

  it('in a slice: the job begins anew, with what it had from its parent', () => {
    const told = sliced();
    told.story('j:0.slice.1:1').end({ kind: 'restart', delayMs: 0 }, '0.map.2');
    told.go();
    expect(told.story('j:0.slice.1:1').live).toMatchObject({ run: 2, params: { n: 30, i: 2 } });
    expect(ending(told.endAll())).toEqual(endings.well);
  });

  it('in a slice that is retried with the latest definitions keeps those of its parent', () => {
    const told = sliced().endAll(broken(3));
    told.edit({ retry: { latest: true } }, 'j:0.slice.1:1');
    expect(told.job('j:0.slice.1:1')).not.toHaveProperty('refresh');
    expect(told.running).toEqual(['0.map.3']);
  });
});

describe('the limit of a map in slices', () => {
  it.each([
    ['none', 0, 3, 5],
    ['less than a slice: one slice at a time, so many items in it', 1, 1, 1],
    ['as many as a slice', 2, 1, 2],
    ['less than two slices', 3, 1, 2],
    ['two slices', 4, 2, 4],
  ])('counts items over all slices: %s', (_title, limit, slices, items) => {
    const told = sliced({ limit });
    expect(told.open()).toHaveLength(slices);
    let most = 0;
    told.endAll((path) => {
      most = Math.max(most, told.running.length);
      return { result: path };
    });
    expect(most).toBe(items);
    expect(ending(told)).toEqual(endings.well);
  });
});

describe('a map of many slices', () => {
  it('works on no more items at a time than any other map', () => {
    const over = Array.from({ length: 2 * widest }, (_, i) => i);
    const told = sliced({ over, slice: widest / 4, limit: 1_000 * widest, do: { delay: 1_000 } });
    expect(told.open()).toHaveLength(4);
  });
});

describe('a map is not in slices', () => {
  it.each<[what: string, steps: WrittenNode[], setting?: Partial<Setting>]>([
    [
      'with a step that has an undo',
      [{ map: { over: list, slice: 2, do: { task: 'a', undo: 'u' } } }],
    ],
    [
      'with a task that has an undo',
      [{ map: { over: list, slice: 2, do: ['a'] } }],
      { tasks: [task('a', { undo: 'u' })] },
    ],
    [
      'with a wait for a signal to the job',
      [{ map: { over: list, slice: 2, do: ['a', { wait: { signal: 's' } }] } }],
    ],
    [
      'with a decider',
      [{ map: { over: list, slice: 2, do: ['a', { decider: 'c' }] } }],
      { tasks: [task('c')] },
    ],
  ])('%s', (_what, steps, setting = {}) => {
    const told = family(steps, { ...setting, tasks: [task('u'), ...(setting.tasks ?? [])] });
    expect(told.made).toEqual(['j']);
    expect(told.open()).toHaveLength(5);
  });

  it('in the cancel branch', () => {
    const told = family(['z'], {
      flow: { cancel: { map: { over: list, slice: 2, do: 'a' } } },
      tasks: [task('a')],
    });
    told.edit({ cancel: true });
    expect(told.made).toEqual(['j']);
    expect(told.open()).toHaveLength(5);
  });

  it.each<[what: string, each: WrittenNode]>([
    ['a wait for an event', { wait: { event: 'e', key: '{{item}}' } }],
    ['a delay', { delay: 5 }],
    ['a child job', { flow: 'f' }],
  ])('but is with %s', (_what, each) => {
    const told = begun([{ map: { over: list, slice: 4, do: each } }]);
    expect(told.children.map(({ _id }) => _id)).toEqual(['j:0.slice.0:1', 'j:0.slice.1:1']);
  });
});

describe('a job with slices', () => {
  it('cancels them with itself, and goes on in them when it is retried', () => {
    const told = sliced()
      .end('0.map.0')
      .edit({ cancel: { by: 'ada' } });
    expect(told.job()).toMatchObject({ state: '$$cancelled', exit: 130 });
    expect(told.given).toEqual(['j:0.slice.0:1', 'j:0.slice.1:1', 'j:0.slice.2:1']);
    expect(told.live).toEqual([]);
    told.edit({ retry: true });
    expect(told.running).toEqual(['0.map.1', '0.map.2', '0.map.3', '0.map.4']);
    expect(ending(told.endAll())).toEqual(endings.well);
  });

  it('goes on in them also when it is retried before they have ended', () => {
    const told = sliced().end('0.map.0').edit({ cancel: true });
    const live = Object.fromEntries(told.given.map((id) => [id, { kind: 'live' } as const]));
    told.story().with({ children: live }).edit({ retry: true }).stopped().stopped();
    expect(told.story().steps.slice(-3)).toMatchObject([
      { attempt: 2, child_run: 2 },
      { attempt: 2, child_run: 2 },
      { attempt: 2, child_run: 2 },
    ]);
    expect(ending(told.go().endAll())).toEqual(endings.well);
  });

  it('makes a slice anew that was given up before it was made', () => {
    const told = sliced().lose('j:0.slice.1:1');
    told.edit({ cancel: { by: 'ada' } });
    expect(told.job('j:0.slice.1:1')).not.toHaveProperty('slice');
    told.edit({ retry: true });
    expect(told.made.at(-1)).toBe('j:0.slice.1:2');
    expect(ending(told.endAll())).toEqual(endings.well);
  });

  it('has no item that could be skipped, its slices have theirs', () => {
    const told = sliced();
    expect(() => told.story().ask('skip', { step: '0.map.2' })).toThrow('has no step "0.map.2"');
    const slice = told.story('j:0.slice.1:1');
    expect(() => slice.ask('skip', { step: '0.map.1' })).toThrow('has no step "0.map.1"');
    slice.ask('skip', { step: '0.map.2' });
    expect(slice.steps.at(-1)).toMatchObject({ path: '0.map.2', state: '$$skipped' });
  });

  it('may stand in a callback', () => {
    const batch = { batch: ['z'], on_complete: { map: { over: list, slice: 2, do: each } } };
    const told = family([batch]).end('0.batch.0', { result: 'z' });
    expect(told.story('j:0.on_complete.slice.0:1').live).toMatchObject({ phase: 'callback' });
    expect(ending(told.endAll())).toEqual(endings.well);
  });
});
