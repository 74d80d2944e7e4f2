import { describe, expect, it } from 'vitest';
import { task } from '../../support/builders.js';
import { begun, endings } from '../story.js';

const undoable = (name: string) => ({ task: name, undo: `u${name}` });
/** The tasks that undo, as far as they began, in order. */
const undoing = (trail: readonly string[]): readonly string[] =>
  trail.filter((step) => step.startsWith('u'));

describe('undoing', () => {
  // Shows X-25.
  it('takes back what was done, last first, before the handler of the flow', () => {
    const told = begun([undoable('a'), undoable('b'), 'x', 'c'], { flow: { error: 'h' } });
    told.did('a').at(10).did('b').did('x').at(20).broke('c');
    expect(told.live).toMatchObject({ task: 'ub', phase: 'undo', path: '1.undo', index: 1 });
    expect(told.did('ub').running).toEqual(['ua']);
    expect(told.did('ua').running).toEqual(['h']);
    expect(told.did('h').ending).toEqual(endings.badly);
  });

  it('goes by the task unless the entry says otherwise, and knows what was done', () => {
    const told = begun(['a', { task: 'b', undo: 'own' }, 'c'], {
      tasks: [
        task('a', { undo: 'ua' }),
        task('b', { undo: 'ub' }),
        task('ua', { params: { id: '{{results.a.id}}', all: '{{parent_results}}' } }),
      ],
    });
    told.did('a', { id: 7 }).did('b').broke('c');
    expect(told.running).toEqual(['own']);
    told.did('own');
    expect(told.live.params).toEqual({ id: 7, all: { 0: { id: 7 }, 1: null } });
    expect(told.did('ua').ending).toEqual(endings.badly);
  });

  it('takes no step back that failed, was skipped, or was recovered', () => {
    const told = begun([
      { ...undoable('a'), error: 'h' },
      { ...undoable('b'), optional: true },
      { ...undoable('c'), when: 'w' },
      'd',
    ]).answering({ '2.when': false });
    told.broke('a').did('h').broke('b').broke('d');
    expect(told.ending).toEqual(endings.badly);
    expect(undoing(told.trail)).toEqual([]);
  });

  it('goes on after one that failed for good', () => {
    const told = begun([undoable('a'), undoable('b'), 'c'], { tasks: [task('ub', { retry: 1 })] });
    told.did('a').at(1).did('b').broke('c').broke('ub').broke('ub').did('ua');
    expect(undoing(told.trail)).toEqual(['ub#1 $$error', 'ub#2 $$error', 'ua#1 $$complete']);
    expect(told.ending).toEqual(endings.badly);
  });

  it('has the handlers of its tasks, which a cancel does not stop', () => {
    const tasks = [task('ua', { error: 'h' })];
    const told = begun([undoable('a'), 'c'], { tasks })
      .did('a')
      .broke('c')
      .broke('ua');
    expect(told.live).toMatchObject({ task: 'h', path: '0.undo.error' });
    told.edit({ cancel: { by: 'ann' } });
    expect(told.decide()).toMatchObject({ kind: 'wait' });
    told.did('h');
    expect(told.ending).toMatchObject({ state: '$$cancelled', exit: 130 });
  });

  it('fails when its task ends with an exit of its own', () => {
    const told = begun([undoable('a'), 'c'])
      .did('a')
      .broke('c');
    told.done(undefined, 3);
    expect(told.last).toMatchObject({ task: 'ua', state: '$$error', failure: { name: 'ExitSet' } });
  });

  it('takes back what ran beside each other, the last to end first', () => {
    const told = begun([{ parallel: [undoable('a'), undoable('b'), 'c'] }]);
    told.at(1).did('b').at(2).did('a').at(3).broke('c').did('ua').did('ub');
    expect(undoing(told.trail)).toEqual(['ua#1 $$complete', 'ub#1 $$complete']);
    const together = begun([{ parallel: [undoable('a'), undoable('b'), 'c'] }]);
    together.did('b').did('a').broke('c').did('ub').did('ua');
    expect(undoing(together.trail)).toEqual(['ub#1 $$complete', 'ua#1 $$complete']);
  });

  it('waits until what is cancelled has ended', () => {
    const steps = [undoable('a'), { parallel: ['b', 'c'], on_fail: 'cancel_rest' }];
    const told = begun(steps).did('a').broke('c');
    expect(told.decide()).toMatchObject({ kind: 'abort' });
    expect(told.stopped().running).toEqual(['ua']);
  });

  it('takes back each item of a map, with its own results, and each round of a loop', () => {
    const undo = task('ua', { params: { n: '{{results.a}}', item: '{{item}}' } });
    const told = begun([{ map: { over: ['x', 'y'], do: undoable('a') } }, 'c'], { tasks: [undo] });
    told.at(1).did('0.map.0', 10).at(2).did('0.map.1', 11).at(3).broke('c');
    expect(told.live).toMatchObject({ path: '0.map.1.undo', params: { n: 11, item: 'y' } });
    told.did('ua');
    expect(told.live).toMatchObject({ path: '0.map.0.undo', params: { n: 10, item: 'x' } });
    const loop = begun([{ loop: { max: 2, do: undoable('a') } }, 'c'], {
      tasks: [task('ua', { params: { n: '{{results.a}}' } })],
    });
    loop.did('a', 1).at(1).did('a', 2).broke('c');
    expect(loop.live.params).toEqual({ n: 2 });
    expect(loop.did('ua').live.params).toEqual({ n: 1 });
  });

  it('takes back callbacks of a batch, too', () => {
    const told = begun([{ batch: ['a'], on_complete: undoable('b') }, 'c']);
    told.did('a').did('b').broke('c');
    expect(told.live).toMatchObject({ task: 'ub', path: '0.on_complete.undo' });
  });

  it('lets nothing begin in structures that have failed', () => {
    const failing = { batch: [undoable('a')], on_complete: 'b' };
    const left = { batch: [{ wait: { signal: 's' } }], on_complete: 'c' };
    const told = begun([{ parallel: [failing, left], on_fail: 'cancel_rest' }]);
    told.did('a').broke('b').go();
    expect(told.running).toEqual(['ua']);
    expect(told.did('ua').ending).toEqual(endings.badly);
  });

  it('may itself be a flow, for which the job waits', () => {
    const tasks = [task('ua', { flow: 'back' })];
    const told = begun([undoable('a'), 'c'], { tasks })
      .did('a')
      .broke('c');
    expect(told.children).toMatchObject([{ _id: 'j:0.undo:1', flow: 'back' }]);
    told.with({ children: { 'j:0.undo:1': { kind: 'live' } } });
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      because: 'Step ua waits for job j:0.undo:1.',
    });
  });

  it('begins after the last run of the flow only', () => {
    const told = begun([undoable('a'), 'c'], { flow: { retry: 1 } })
      .did('a')
      .broke('c');
    expect(told.running).toEqual(['c']);
    expect(told.broke('c').running).toEqual(['ua']);
  });

  it('begins after a cancel, before the cancel branch', () => {
    const told = begun([undoable('a'), 'c'], { flow: { cancel: 'x' } }).did('a');
    told.edit({ cancel: true }).stopped();
    expect(told.running).toEqual(['ua']);
    expect(told.did('ua').running).toEqual(['x']);
    told.did('x');
    expect(told.job.state).toBe('$$cancelled');
  });

  it('begins when the time of the flow is over, and is not cut short by it', () => {
    const told = begun([undoable('a'), undoable('b'), 'c'], { flow: { timeout: 100 } });
    told.did('a').at(100).did('b');
    expect(told.running).toEqual(['ub']);
    expect(told.decide()).toMatchObject({ kind: 'wait' });
    told.at(900).did('ub').did('ua');
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'FlowTimeout' });
  });

  it('does not begin when the flow ends at once, in mode hard', () => {
    const told = begun([undoable('a'), 'c'], { flow: { timeout: 100, timeout_mode: 'hard' } });
    told.did('a').at(100).go();
    expect(told.ending).toMatchObject({ failure: 'FlowTimeout' });
    expect(undoing(told.trail)).toEqual([]);
  });

  it('is done again for what was done again', () => {
    const told = begun([undoable('a'), 'c'])
      .did('a')
      .broke('c')
      .did('ua')
      .ask('retry');
    expect(told.running).toEqual(['a']);
    told.did('a').broke('c').did('ua');
    expect(told.trail).toEqual([
      'a#1 $$complete',
      'c#1 $$error',
      'ua#1 $$complete',
      'a#2 $$complete',
      'c#2 $$error',
      'ua#2 $$complete',
    ]);
  });

  it('that failed leaves the step done, and is tried again when the flow fails again', () => {
    const told = begun([undoable('a'), 'c'])
      .did('a')
      .broke('c')
      .broke('ua')
      .ask('retry');
    expect(told.running).toEqual(['c']);
    expect(told.broke('c').running).toEqual(['ua']);
  });

  it('waits for the next attempt of what undoes', () => {
    const tasks = [task('ua', { retry: { limit: 1, delay: 50 } })];
    const told = begun([undoable('a'), 'c'], { tasks })
      .did('a')
      .broke('c')
      .broke('ua');
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      because: expect.stringContaining('tried again') as string,
    });
    told.at(50).go();
    expect(told.running).toEqual(['ua']);
  });
});
