import { describe, expect, it } from 'vitest';
import { fullTask, limitOf, taskSlots, withClaims } from '../../../src/decide/compete/serving.js';
import { peer, task, world } from '../../support/builders.js';
import { story } from '../story.js';

describe('the slots of a task', () => {
  it.each([
    ['are as many as the engine has when it does not say', {}, undefined],
    ['are as many as it says', { slots: 2 }, { task: 'a::DEFAULT', slots: 2 }],
    ['are of its owner', { slots: 2, owner: 'me' }, { task: 'a::me', slots: 2 }],
  ])('%s', (_title, more, limit) => {
    expect(taskSlots(task('a', more))).toEqual(limit);
  });

  it.each([
    ['has room while one is free', 1, undefined],
    ['is full when all are taken', 2, { task: 'a::DEFAULT', slots: 2 }],
    ['is full when more are taken than there are now', 3, { task: 'a::DEFAULT', slots: 2 }],
  ])('tell that it %s', (_title, running, full) => {
    const around = world({ runningOf: { 'a::DEFAULT': running } });
    expect(fullTask(task('a', { slots: 2 }), around)).toEqual(full);
    expect(fullTask(task('a'), around)).toBeUndefined();
  });

  it('are taken by the claims of one decision', () => {
    const told = story({ steps: ['a', 'b'], tasks: [task('a', { slots: 2 })] });
    told.go();
    const { liveJob, live } = told;
    const around = world({ freeSlots: 3, share: 3, runningOf: { 'a::DEFAULT': 1 } });
    expect(withClaims(liveJob, around, [])).toBe(around);
    const { me } = withClaims(liveJob, around, [live, { ...live, task: 'b', path: '1' }]);
    expect([me.freeSlots, me.share(1), me.share(2)]).toEqual([1, 1, 1]);
    expect([me.runningOf('a::DEFAULT'), me.runningOf('b::DEFAULT')]).toEqual([2, 0]);
  });

  it('are not known of a task that is not defined', () => {
    const told = story({ steps: ['a'] });
    told.go();
    expect(limitOf(told.liveJob, { ...told.live, task: 'x', path: '7' })).toBeUndefined();
  });

  it('are not those of a task that is just called like what an entry is', () => {
    const told = story({ steps: ['a', { delay: 1 }] });
    told.go();
    const definitions = { delay: task('delay', { slots: 1 }) };
    const step = { ...told.live, task: 'delay', path: '1' };
    expect(limitOf({ ...told.liveJob, definitions }, step)).toBeUndefined();
  });
});

describe('a step of a job that others go before', () => {
  it('waits for a slot, although some are free', () => {
    const told = story({ steps: ['a'], world: { freeSlots: 5, share: 0 } });
    expect(told.decide()).toMatchObject({ kind: 'wait', for: 'slot' });
  });

  it('begins as far as its share goes', () => {
    const flow = [{ parallel: ['a', 'b', 'c'] }];
    const told = story({ steps: flow, world: { freeSlots: 5, share: 2 } });
    const intent = told.decide();
    expect(intent.kind === 'claim' && intent.steps.map(({ task }) => task)).toEqual(['a', 'b']);
  });
});

describe('a step whose task is full here', () => {
  const tasks = [task('a', { slots: 1 })];
  const full = { runningOf: { 'a::DEFAULT': 1 }, freeSlots: 5 };

  it('waits for a slot of its task', () => {
    const told = story({ steps: ['a'], tasks, world: full });
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      because: "Step a waits for a free slot of its task's 1.",
      for: 'slot',
      tasks: [{ task: 'a::DEFAULT', slots: 1 }],
    });
    expect(told.with({ runningOf: {} }).decide()).toMatchObject({ kind: 'claim' });
  });

  it('leaves the others to begin', () => {
    const told = story({ steps: [{ parallel: ['a', 'b', 'a'] }], tasks, world: { freeSlots: 5 } });
    told.go();
    expect(told.trail).toEqual(['a#1 $$active', 'b#1 $$active']);
  });

  it('waits for any slot when another step of its job does', () => {
    const setting = { steps: [{ parallel: ['a', 'b'] }], tasks };
    const told = story({ ...setting, world: { ...full, freeSlots: 0 } });
    const wait = told.decide();
    expect(wait).toMatchObject({ kind: 'wait', for: 'slot' });
    expect(wait).not.toHaveProperty('tasks');
  });

  it('waits for all of them when all of its job are full', () => {
    const both = [...tasks, task('b', { slots: 2 })];
    const told = story({
      steps: [{ parallel: ['a', 'b'] }],
      tasks: both,
      world: { freeSlots: 5, runningOf: { 'a::DEFAULT': 1, 'b::DEFAULT': 2 } },
    });
    expect(told.decide()).toMatchObject({
      tasks: [
        { task: 'a::DEFAULT', slots: 1 },
        { task: 'b::DEFAULT', slots: 2 },
      ],
    });
  });

  it('is left to an engine that has room for it', () => {
    const told = story({ steps: ['a'], tasks, world: { ...full, peers: [peer(['a'])] } });
    expect(told.decide()).toMatchObject({ kind: 'wait', for: 'slot' });
    const other = { id: 'other', runningOf: {}, peers: [peer(['a'], [], 'me')], seenAt: 0 };
    expect(told.with(other).decide()).toMatchObject({ kind: 'claim' });
  });
});
