import { describe, expect, it } from 'vitest';
import type { FinalJob } from '../../../src/model/job.js';
import { task } from '../../support/builders.js';
import { begun, story } from '../story.js';

describe('what structures ask', () => {
  it('is asked of all of them at once', () => {
    const map = (name: string) => ({ map: { over: name, do: 'a' } });
    const intent = story({ steps: [{ parallel: [map('x'), map('y')] }] }).decide();
    expect(intent).toMatchObject({
      kind: 'look_up',
      questions: [
        { id: '0.parallel.0.map.over', expression: 'x' },
        { id: '0.parallel.1.map.over', expression: 'y' },
      ],
    });
  });

  it('is written down as far as it is answered, before the rest is asked', () => {
    const map = (name: string) => ({ map: { over: name, do: 'a' } });
    const told = story({ steps: [{ parallel: [map('x'), map('y')] }] });
    told.answering({ '0.parallel.0.map.over': [] });
    expect(told.decide()).toMatchObject({ questions: [{ id: '0.parallel.1.map.over' }] });
  });

  it('sees the parameters, the results before it and what is around it', () => {
    const node = { map: { over: [5], as: 'five', do: { choice: [{ when: 'w', then: 'b' }] } } };
    const told = begun(['a', node], { job: { params: { p: 1 } } }).did('a', 2);
    expect(told.decide()).toMatchObject({
      questions: [
        {
          id: '1.map.0.choice[0].when',
          context: {
            job: { _id: 'j' },
            step: { path: '1.map.0', name: 'choice' },
            params: { p: 1 },
            results: { a: 2 },
            parent_results: { 0: 2 },
            item: 5,
            five: 5,
            index: 0,
          },
        },
      ],
    });
  });

  it('has no parameters where somebody took them away', () => {
    const told = begun(['a', { choice: [{ when: 'w', then: 'b' }] }]);
    const { params: _params, ...job } = told.liveJob;
    told.edit({ ...job, params: undefined }).end({ kind: 'done' });
    expect(told.decide()).toMatchObject({ questions: [{ context: { params: {} } }] });
  });

  it('has the position of the first entry in the structure, also in the cancel branch', () => {
    const cancel = ['u', { map: { over: [1], do: 'v' } }];
    const told = begun(['a', { map: { over: [], do: 'b' } }, 'c'], { flow: { cancel } }).did('a');
    expect(told.steps[1]).toMatchObject({ index: 1, task: 'map', state: '$$complete' });
    told.edit({ cancel: true }).stopped().did('u');
    expect(told.steps.find(({ path }) => path === 'cancel.sequence.1')).toMatchObject({
      index: 1,
      phase: 'cancel',
    });
  });

  it('is told among the problems of the job when a map finds no list at all', () => {
    const told = begun([{ map: { over: 'params.lst', do: 'a' } }, 'b']);
    told.answering({ '0.map.over': undefined }).go();
    const message = '"over" of the map at 0 (params.lst) found nothing; the map has no items.';
    expect(told.liveJob.problems).toEqual([{ path: 'steps[0]', message }]);
    expect(told.running).toEqual(['b']);
  });

  it('is told once of a map that finds no list in several rounds', () => {
    const map = { map: { over: 'params.lst', do: 'a' }, name: 'all' };
    const told = begun([{ loop: { max: 2, do: map } }, 'b']);
    told.answering({ '0.loop.0.map.over': undefined, '0.loop.1.map.over': undefined }).go();
    expect(told.liveJob.problems).toHaveLength(1);
    expect(told.running).toEqual(['b']);
  });

  it('is no problem when a map finds an empty list', () => {
    const told = begun([{ map: { over: 'params.list', do: 'a' } }, 'b']);
    told.answering({ '0.map.over': [] }).go();
    expect(told.liveJob).not.toHaveProperty('problems');
  });

  it('fails with exit 3 when it cannot be evaluated', () => {
    const told = begun([{ choice: [{ when: 'w', then: ['a'] }] }]);
    told.with({ answers: { '0.choice[0].when': { ok: false, reason: 'no such function' } } }).go();
    expect(told.steps[0]).toMatchObject({ exit: 3, failure: { name: 'ExpressionError' } });
  });

  it('may be a structure without any entry', () => {
    const told = begun([{ choice: [{ when: 'w', then: [] }] }, 'a']);
    told.answering({ '0.choice[0].when': true }).go();
    expect(told.steps[0]).toMatchObject({ index: 0, result: { chosen: 0 } });
    expect(told.running).toEqual(['a']);
  });

  it('of the cancel branch sees all of the flow and what that branch did before', () => {
    const cancel = ['u', { choice: [{ when: 'w', then: 'v' }] }];
    const told = begun([['a', 'b']], { flow: { cancel } }).did('a', 1);
    told.edit({ cancel: true }).stopped().did('u', 2);
    expect(told.decide()).toMatchObject({
      questions: [{ context: { results: { a: 1, u: 2 } } }],
    });
  });
});

describe('a list that a map goes over', () => {
  const numbers = (length: number): readonly number[] => Array.from({ length }, (_, i) => i);
  const ending = (items: number, slice?: number, leaves = 1) => {
    const each = { sequence: Array.from({ length: leaves }, () => 'a') };
    const map = { over: 'list', do: each, ...(slice === undefined ? {} : { slice }) };
    const told = story({ steps: [{ map }] });
    told.answering({ '0.map.over': numbers(items) });
    return told;
  };

  it('counts a step that may be undone twice', () => {
    const each = { sequence: [{ task: 'a', undo: 'u' }, 'b'] };
    const tasks = [task('a'), task('b'), task('u')];
    const over = (items: number) =>
      begun([{ map: { over: Array.from({ length: items }, (_, i) => i), do: each } }], { tasks });
    expect(over(6_666).ending.failure).toBeUndefined();
    expect(over(6_667).ending).toMatchObject({ exit: 3, failure: 'OverTooLong' });
  });

  it.each<[items: number, slice: number | undefined, advice: string, leaves: number]>([
    [10_001, undefined, 'set "slice" beside "over"', 1],
    [4_001, undefined, 'one job goes over 4000 at most: set "slice" beside "over"', 5],
    [10_001, 1, 'set a larger "slice"', 5],
    [100_001, 1_000, 'begin a child job for each part', 1],
    [200_000, undefined, 'set "slice" beside "over"', 1],
  ])('ends the job when it has %d items, in slices of %s', (items, slice, advice, leaves) => {
    const told = ending(items, slice, leaves);
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'OverTooLong' });
    expect((told.job as FinalJob).failure).toMatchObject({
      message: expect.stringContaining(advice) as string,
    });
  });

  it.each<[items: number, slice: number | undefined]>([
    [10_000, undefined],
    [20_000, 50],
  ])('may have %d items, in slices of %s', (items, slice) => {
    const told = ending(items, slice);
    told.go();
    expect(told.ending?.failure).toBeUndefined();
  });
});
