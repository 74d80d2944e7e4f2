import { describe, expect, it } from 'vitest';
import { failureFor } from '../../../src/decide/start/failure-for.js';
import { task } from '../../support/builders.js';
import { begun, story } from '../story.js';

const told = { told: '{{failure}}' };
const broken = { name: 'Broken', message: 'It is Broken.', code: null, kind: null, exit: 2 };

describe('what failed is seen as `failure`', () => {
  it('by the handler of a step, with the attempt that failed last', () => {
    const seen = story({
      steps: [{ task: 'a', name: 'load', retry: 1, error: 'h' }],
      tasks: [task('h', { params: { ...told, text: '{{failure.step}}: {{failure.message}}' } })],
    });
    seen.go();
    seen.fail('First');
    seen.fail('Broken', { failure: { name: 'Broken', message: 'It is Broken.', code: 'E7' } });
    expect(seen.live.params).toEqual({
      told: { ...broken, code: 'E7', step: 'load', attempt: 2 },
      text: 'load: It is Broken.',
    });
  });

  it('by the handler of a handler, which follows the handler', () => {
    const seen = story({
      steps: [{ task: 'a', error: 'h' }],
      tasks: [task('h', { error: 'i' }), task('i', { params: told })],
    });
    seen.go();
    seen.fail('First');
    seen.fail();
    expect(seen.live.params).toEqual({ told: { ...broken, step: 'h', attempt: 1 } });
  });

  it('with the kind that the catalogue of the flow gives it', () => {
    const seen = story({
      steps: ['a'],
      flow: { error: 'h', errors: { Broken: { kind: 'business' } } },
      tasks: [task('h', { params: told })],
    });
    seen.go();
    seen.fail();
    expect(seen.live.params).toMatchObject({ told: { kind: 'business' } });
  });

  it('by what undoes a failed flow, and then by its handler', () => {
    const seen = story({
      steps: [{ task: 'a', undo: 'u' }, 'b'],
      flow: { error: { name: 'h', params: told } },
      tasks: [task('u', { params: told })],
    });
    seen.go();
    seen.done();
    seen.fail();
    expect(seen.live).toMatchObject({ phase: 'undo', params: { told: { step: 'b' } } });
    seen.done();
    expect(seen.live).toMatchObject({
      path: 'error',
      params: { told: { ...broken, step: 'b', attempt: 1 } },
    });
  });

  it('by what undoes a flow whose time was over', () => {
    const seen = story({
      steps: [{ task: 'a', undo: 'u' }, 'b'],
      flow: { timeout: 100 },
      tasks: [task('u', { params: told })],
    });
    seen.go();
    seen.at(100).done();
    expect(seen.live.params).toMatchObject({
      told: { name: 'FlowTimeout', step: null, exit: 1, attempt: null },
    });
    expect((seen.live.params['told'] as { message: string }).message).toContain('step b');
  });

  it('by the cancel branch: who cancelled, and why', () => {
    const seen = story({
      steps: [{ task: 'a', undo: 'u' }, 'b'],
      flow: { cancel: { sequence: [{ task: 'c', when: 'failure.exit = 130', params: told }] } },
      tasks: [task('u', { params: told })],
    });
    seen.answering({ 'cancel.sequence.0.when': true }).go();
    seen.done();
    seen.edit({ cancel: { by: 'ann', reason: 'enough' } }).stopped();
    const cancelled = {
      ...{ name: 'Cancelled', message: 'Cancelled by ann: enough.', code: null, kind: null },
      ...{ step: null, exit: 130, attempt: null },
    };
    expect(seen.live).toMatchObject({ phase: 'undo', params: { told: cancelled } });
    seen.done();
    expect(seen.live).toMatchObject({ path: 'cancel.sequence.0', params: { told: cancelled } });
  });

  it('by the callbacks of a batch: its first failed node', () => {
    const batch = {
      batch: ['a', 'b', 'c'],
      on_failure: { task: 'f', params: told },
      on_complete: { task: 'x', params: told },
    };
    const seen = begun([batch]).broke('b').broke('c').did('a');
    expect(seen.live).toMatchObject({ task: 'f', params: { told: { ...broken, step: 'b' } } });
    seen.done();
    expect(seen.live).toMatchObject({ task: 'x', params: { told: { ...broken, step: 'b' } } });
  });

  it('by the callbacks of a batch at the root of the tasks', () => {
    const batch = { batch: ['a'], on_complete: { task: 'x', params: told } };
    const seen = story({ steps: batch as never });
    seen.go();
    seen.fail();
    expect(seen.live).toMatchObject({ path: 'on_complete', params: { told: { step: 'a' } } });
  });

  it('by the structures of a branch, whose conditions may ask for it', () => {
    const choice = { choice: [{ when: 'failure.exit = 2', then: 'h' }] };
    const seen = story({ steps: ['a'], flow: { error: choice } });
    seen.go();
    expect(seen.fail()).toMatchObject({ kind: 'look_up' });
    expect(seen.decide()).toMatchObject({
      questions: [{ context: { failure: { ...broken, step: 'a', attempt: 1 } } }],
    });
  });

  it.each([
    ['a step of the flow', 'a', {}],
    ['the callbacks of a batch that succeeded', 'x', { batch: ['a'], on_complete: 'x' }],
  ])('not by %s', (_title, name, batch) => {
    const node = 'batch' in batch ? batch : 'a';
    const seen = story({ steps: [node], tasks: [task(name, { params: told })] });
    seen.go();
    if (name === 'x') seen.done();
    expect(seen.last).toMatchObject({ task: name, failure: { name: 'TemplateError' } });
  });
});

describe('steps whose path reads like that of a callback', () => {
  const graph = { graph: { on_failure: { task: 'a' }, on_complete: ['b'] } };
  const activity = { schedule: 'a', id: 'on_success' };

  it.each([
    ['a node of a graph', [graph], '0.graph.on_failure'],
    ['an entry in a node of a graph', [graph], '0.graph.on_complete.sequence.0'],
    ['an activity of a decider', [{ decider: 'd' }], '0.activity.on_success'],
    [
      'an activity of a decider in a batch',
      [{ batch: [{ decider: 'd' }] }],
      '0.batch.0.activity.on_success',
    ],
  ])('see no failure: %s', (_title, steps, path) => {
    const { job } = begun(steps);
    expect(failureFor(job as never, { path })).toEqual({});
  });

  it.each([
    ['a graph', graph, 'on_failure.graph.on_failure'],
    ['a decider', { decider: 'd' }, 'on_failure.activity.on_success'],
    [
      'a graph in a graph',
      { graph: { on_complete: graph } },
      'on_failure.graph.on_complete.graph.on_failure',
    ],
  ])('see that of the batch around %s in a callback', (_title, callback, path) => {
    const { job } = begun({ batch: ['x'], on_failure: callback } as never).broke('x');
    expect(failureFor(job as never, { path })).toMatchObject({ failure: { step: 'x' } });
  });

  it('see no failure where the job has no batch', () => {
    const { job } = begun(['a']);
    expect(failureFor(job as never, { path: '0.on_failure' })).toEqual({});
    const ofFlow = { failure: { name: 'FlowTimeout' } };
    expect(failureFor(job as never, { path: 'cancel.on_failure' })).toMatchObject(ofFlow);
  });

  it('are decided like any others', () => {
    const told = begun([graph]);
    told.did('a');
    told.did('b');
    expect(told.job).toMatchObject({ state: '$$complete', exit: 0 });
    const world = { plugins: ['d', 'a'] };
    const made = begun([{ decider: 'd' }], { tasks: [task('a')], world });
    expect(made.done([activity])).toMatchObject({ kind: 'claim' });
    expect(made.live.path).toBe('0.activity.on_success');
  });
});
