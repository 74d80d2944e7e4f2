import { describe, expect, it } from 'vitest';
import {
  isServed,
  isUnserved,
  needsOf,
  serves,
  servesHere,
} from '../../src/decide/compete/serving.js';
import { queueOf } from '../../src/reading/entries.js';
import { quickCheck } from '../../src/decide/compete/quick-check.js';
import { rankFor } from '../../src/decide/compete/stagger.js';
import type { LiveJob } from '../../src/model/job.js';
import { flow, liveJob, newJob, peer, t0, task, world } from '../support/builders.js';
import { story } from './story.js';

const gpu = peer(['a', 'b'], [], 'gpu', ['gpu']);

describe('the queue of a job', () => {
  const inFlow = (queue?: string): LiveJob =>
    liveJob(flow(['a'], queue === undefined ? {} : { queue }));
  const parent = { job: 'p', step: '0', queue: 'parent' };
  it.each([
    ['"default" where nobody names one', inFlow(), 'default'],
    ['that of its flow', inFlow('flow'), 'flow'],
    ['its own before that of its flow', { ...inFlow('flow'), queue: 'own' }, 'own'],
    ['that of its parent where its flow has none', { ...inFlow(), parent }, 'parent'],
    ['that of its flow before that of its parent', { ...inFlow('flow'), parent }, 'flow'],
  ])('is %s', (_title, job, queue) => {
    expect(queueOf(job)).toBe(queue);
  });
});

describe('a step of a queue', () => {
  it.each([
    ['an engine of that queue', ['gpu'], true],
    ['an engine of several queues', ['default', 'gpu'], true],
    ['no engine of another queue', ['default'], false],
    ['no engine without queues', [], false],
  ])('is taken by %s', (_title, queues, taken) => {
    expect(serves(peer(['a'], [], 'x', queues), task('a'), 'gpu')).toBe(taken);
    const here = world({ plugins: ['a'], queues });
    expect(servesHere(task('a'), here, 'gpu')).toBe(taken);
    expect(isUnserved(task('a'), here, 'gpu')).toBe(!taken);
    expect(isUnserved(task('a', { flow: 'inner' }), here, 'gpu')).toBe(false);
  });

  it('is left to a live engine that serves the queue', () => {
    const around = world({ plugins: ['a'], peers: [gpu] });
    expect(isServed(task('a'), around, 'gpu')).toBe(true);
    expect(isUnserved(task('a'), around, 'gpu')).toBe(false);
  });

  it('counts only engines of its queue when it is shared out', () => {
    const peers = Array.from({ length: 20 }, (_, i) => peer(['a'], [], `e${i}`, ['gpu']));
    const around = world({ id: 'me', plugins: ['a'], peers });
    expect(rankFor(newJob(), task('a'), around)).toBe(0);
    expect(rankFor(newJob(), task('a'), around, 'gpu')).toBeGreaterThan(0);
  });

  it.each([
    ['default', ['default'], 'plugin "a" and the label x'],
    ['default', ['gpu'], 'plugin "a", the label x and the queue "default"'],
    ['gpu', ['gpu'], 'plugin "a", the label x and the queue "gpu"'],
  ])('of the queue %s says what it needs where engines serve %j', (queue, queues, needs) => {
    expect(needsOf(task('a', { labels: ['x'] }), world({ queues }), queue)).toBe(needs);
  });
});

describe('a job whose queue this engine does not serve', () => {
  it('is left to an engine that does, and goes on there', () => {
    const told = story({ steps: ['a', 'b'], job: { queue: 'gpu' }, world: { peers: [gpu] } });
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      for: 'engine',
      because: 'Step a needs plugin "a" and the queue "gpu": another engine has it.',
    });
    expect(told.with({ queues: ['gpu'], peers: [] }).go().kind).toBe('claim');
    told.did('a');
    expect(told.running).toEqual(['b']);
  });

  it('waits while no engine serves it, and ends with the time of the flow', () => {
    const told = story({ steps: ['a'], flow: { queue: 'gpu', timeout: 1000 } });
    expect(told.go().kind).toBe('write');
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      because: 'Step a needs plugin "a" and the queue "gpu": no engine has it.',
    });
    told.at(1000).go();
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'NotServed' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining('the queue "gpu"') as string },
    });
  });

  it('does not end as late while nobody could have taken the next step', () => {
    const told = story({ steps: ['a', 'b'], flow: { timeout: 1000 }, job: { queue: 'gpu' } });
    told.with({ queues: ['gpu'] }).go();
    told.at(500).did('a');
    expect(told.running).toEqual(['b']);
  });

  it('is still initialised, cancelled and ended here', () => {
    const told = story({ steps: ['a'], job: { queue: 'gpu' } });
    expect(told.go()).toMatchObject({ kind: 'write', job: { state: '$$ready' } });
    told.edit({ cancel: true }).go();
    expect(told.ending).toMatchObject({ state: '$$cancelled', exit: 130 });
  });
});

describe('a child job', () => {
  const tasks = [task('a', { flow: 'inner' })];
  it.each([
    ['the queue of the job', { queue: 'gpu' }, {}, { queue: 'gpu' }, { queue: 'gpu' }],
    ['nothing of the usual queue', {}, {}, {}, {}],
    ["the queue of the flow, beneath its own flow's", {}, { queue: 'gpu' }, {}, { queue: 'gpu' }],
    ['the priority', { priority: 3 }, {}, { priority: 3 }, {}],
  ])('has from its parent %s', (_title, job, flowOptions, own, parent) => {
    const told = story({ steps: ['a'], tasks, job, flow: flowOptions });
    told.go();
    expect(told.children).toEqual([
      {
        _id: 'j:0:1',
        type: 'job',
        flow: 'inner',
        owner: 'DEFAULT',
        params: {},
        ...own,
        parent: { job: 'j', step: '0', start: t0, depth: 1, ...parent },
      },
    ]);
  });
});

describe('the quick check of a new job', () => {
  it('leaves it to an engine that goes first only where that serves all the same queues', () => {
    const ids = Array.from({ length: 20 }, (_, i) => `e${i}`);
    const at = (queues: readonly string[]) => {
      const peers = ids.map((id) => peer(['a'], [], id, queues));
      const { me } = world({ id: 'me', plugins: ['a'], queues: ['gpu'] });
      return quickCheck(newJob(), t0, { me, peers, seenAt: t0 });
    };
    expect(at(['default']).kind).toBe('unclear');
    expect(at(['gpu', 'default'])).toMatchObject({ kind: 'later' });
  });
});
