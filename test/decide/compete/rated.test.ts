import { describe, expect, it } from 'vitest';
import type { RateRequest } from '../../../src/decide/queries.js';
import type { RateAnswer } from '../../../src/decide/world.js';
import { decide } from '../../../src/decide/decide.js';
import type { Step } from '../../../src/model/step.js';
import { flow, liveJob, peer, t0, task, world } from '../../support/builders.js';
import { story } from '../story.js';

const rate = { limit: 2, per: 'PT1S' };
const held: RateAnswer = { kind: 'held' };
const only = (answer: RateAnswer) => ({ rate: () => answer });

function rated(more: object = {}, options: Parameters<typeof story>[0] = { steps: ['a'] }) {
  const a = task('a', { rate: { ...rate, ...more } });
  return story({ ...options, tasks: [a, task('b'), task('c')] });
}

describe('a step under a rate limit', () => {
  it('asks for a grant of its attempt, and begins when it has one', () => {
    const told = rated();
    const asked = told.decide();
    expect(asked).toMatchObject({
      kind: 'acquire',
      rates: [{ of: 'task "a"', owner: 'DEFAULT', limit: 2, perMs: 1_000 }],
    });
    expect(told.with(only(held)).go().kind).toBe('claim');
  });

  it('waits as a new job until the next one is free, and writes nothing', () => {
    const told = rated();
    const wait = told.with(only({ kind: 'full', until: t0 + 700 })).decide();
    expect(wait).toMatchObject({
      ...{ kind: 'wait', for: 'rate', until: t0 + 700 },
      because: `Step a waits for the rate limit of task "a" (2 per 1 s), next at ${new Date(t0 + 700).toISOString()}.`,
    });
  });

  it('fails when the database takes no such document', () => {
    const told = rated();
    told.with(only({ kind: 'refused', reason: 'no' })).go();
    expect(told.ending).toMatchObject({ exit: 3, failure: 'StoreRefused' });
  });

  it('has windows of its own for each value of the key', () => {
    const told = rated({ key: 'job.owner', name: 'shared', per: 1_500 });
    const questions = [{ id: '0.sequence.0.rate.task.key', expression: 'job.owner' }];
    const asked = told.decide();
    expect(asked).toMatchObject({ kind: 'look_up' });
    const [{ id = '' } = {}] = 'questions' in asked ? asked.questions : questions;
    const ids = ['x', 'y'].map((value) => {
      const wanted = told.with({ answers: { [id]: { ok: true, value } } }).decide();
      return 'rates' in wanted ? wanted.rates[0] : undefined;
    });
    expect(ids[0]).toMatchObject({ of: '"shared"', perMs: 1_500 });
    expect(ids[0]?.id).not.toBe(ids[1]?.id);
    told.with({ answers: { [id]: { ok: false, reason: 'no number' } } }).go();
    expect(told.ending).toMatchObject({ exit: 3, failure: 'LimitKeyError' });
  });

  it('asks for what its flow and its queue limit as well, the flow only once', () => {
    const asked: RateRequest['of'][] = [];
    const queueControls = {
      default: {
        _id: 'q',
        type: 'queue-control' as const,
        queue: 'default',
        rate: { limit: 1, per: 5 },
      },
    };
    const told = rated({}, { steps: ['a', 'a'], flow: { rate: { limit: 1, per: 60_000 } } });
    told.with({
      queueControls,
      rate: (request) => {
        asked.push((request as RateRequest).of);
        return held;
      },
    });
    told.go();
    expect(asked).toEqual(['task "a"', 'queue "default"', 'flow "f"']);
    told.done();
    expect(asked.slice(3)).toEqual(['task "a"', 'queue "default"']);
  });

  it('shares the windows of a name with its flow and its queue, whether they say an owner or not', () => {
    const named = { ...rate, name: 'shared' };
    const mail = { _id: 'q', type: 'queue-control' as const, queue: 'default', rate: named };
    const idsOf = (owner: string | undefined): readonly string[] => {
      const ofOwner = owner === undefined ? {} : { owner };
      const of = { ...ofOwner, rate: named };
      const told = story({ steps: ['a'], tasks: [task('a', of)], flow: of, job: ofOwner });
      const asked = told.with({ queueControls: { default: mail } }).decide();
      return 'rates' in asked ? asked.rates.map(({ id }) => id) : [];
    };
    expect(idsOf(undefined)).toHaveLength(3);
    expect(new Set([...idsOf(undefined), ...idsOf('DEFAULT')]).size).toBe(1);
    expect(new Set(idsOf('mara')).size).toBe(2);
  });

  it('takes one place where its task and its flow share a rate', () => {
    const named = { rate: { ...rate, name: 'shared' } };
    const told = story({ steps: ['a'], tasks: [task('a', named)], flow: named });
    const asked = told.decide();
    const all = 'rates' in asked ? asked.rates : [];
    expect([all.length, new Set(all.map((one) => one.for)).size]).toEqual([2, 1]);
  });

  it('keeps its grant when the job is written anew before it begins', () => {
    const told = rated({}, { steps: ['a'], flow: { rate: { limit: 1, per: 60_000 } } });
    const wanted = () => {
      const asked = told.decide();
      return 'rates' in asked ? asked.rates.map((one) => one.for) : [];
    };
    const before = wanted();
    expect(told.at(500).edit({ _rev: '7-x' }) && wanted()).toEqual(before);
    expect(before).toHaveLength(2);
  });

  it('limits what its flow or its queue limits where its task does not', () => {
    const told = story({ steps: ['b', 'b'], flow: { rate: { limit: 1, per: 60_000 } } });
    expect(told.decide()).toMatchObject({ kind: 'acquire', rates: [{ of: 'flow "f"' }] });
    told.with(only(held)).go();
    told.with(only({ kind: 'full', until: t0 + 5_000 })).did('b');
    expect(told.did('b').ending).toMatchObject({ exit: 0 });
    const control = { _id: 'q', type: 'queue-control', queue: 'mail', rate } as const;
    const other = story({ steps: ['b'] }).with({ queueControls: { mail: control } });
    expect(other.decide().kind).toBe('claim');
    const own = story({ steps: ['b'], job: { queue: 'mail' } });
    own.with({ queueControls: { mail: control }, queues: ['mail'] });
    expect(own.decide()).toMatchObject({ kind: 'acquire', rates: [{ of: 'queue "mail"' }] });
  });

  it('limits a job that begins with a wait, and the attempts of several steps together', () => {
    const waits = story({
      steps: [{ wait: { signal: 'go' } }],
      flow: { rate: { limit: 1, per: 60_000 } },
    });
    expect(waits.decide()).toMatchObject({ kind: 'acquire', rates: [{ of: 'flow "f"' }] });
    const several = rated({}, { steps: [{ parallel: ['a', 'a', 'b'] }], world: { freeSlots: 2 } });
    expect(several.decide()).toMatchObject({ kind: 'acquire', rates: [{}, {}] });
  });

  it('does not use up the time of its flow while it waits', () => {
    const told = rated({}, { steps: ['b', 'a'], flow: { timeout: 1_000 } });
    told.go();
    told
      .at(100)
      .with(only({ kind: 'full', until: t0 + 5_000 }))
      .done();
    expect(told.at(4_000).decide()).toMatchObject({ kind: 'wait', for: 'rate' });
    told.at(5_000).with(only(held)).go();
    expect(told.job).toMatchObject({ held_ms: 4_900 });
    told.at(5_100).done();
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  it('counts the wait once where several steps begin, and no time in which something ran', () => {
    const steps = [{ parallel: ['a', 'a', 'b'] }];
    const told = rated({}, { steps, flow: { timeout: 1_000 }, world: { freeSlots: 3 } });
    told.with(only({ kind: 'full', until: t0 + 5_000 })).go();
    told.at(100).did('b');
    told.at(5_000).with(only(held)).go();
    expect(told.job).toMatchObject({ held_ms: 4_900 });
    told.at(5_100).did('0.parallel.0').at(5_200).did('0.parallel.1');
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  it('does not begin when the time of its flow ran out while something else of it ran', () => {
    const steps = [{ parallel: ['a', 'b'] }];
    const told = rated({}, { steps, flow: { timeout: 1_000 }, world: { freeSlots: 3 } });
    told.with(only({ kind: 'full', until: t0 + 5_000 })).go();
    told.at(2_000).did('b');
    expect(told.ending).toMatchObject({ exit: 1, failure: 'FlowTimeout' });
  });

  it('reads the steps of a job whose time is over a few times, however many may begin', () => {
    const noops = Array.from({ length: 500 }, () => 'noop');
    const wide = flow([{ structure: 'parallel', parallel: noops }], { timeout: 1_000 });
    let reads = 0;
    const done = Array.from({ length: 100 }, (_, i) => ({
      ...{ index: i, path: `0.parallel.${i}`, name: 'noop', task: 'noop', attempt: 1, run: 1 },
      ...{ phase: 'main', plugin: 'noop', claim: `c${i}`, engine: 'me', pid: 1, params: {} },
      ...{ state: '$$complete', start: t0, accepted: t0, end: t0 + 10, exit: 0 },
    })) as unknown as Step[];
    const get = (step: Step, key: keyof Step): unknown => ((reads += 1), step[key]);
    const steps = done.map((step, i) => (i === 50 ? new Proxy(step, { get }) : step));
    const job = { ...liveJob(wide), steps };
    const around = world({ flows: [wide], tasks: [task('noop', { rate })] });
    expect(decide(job, t0 + 90_000, around).kind).toBe('write');
    expect(reads).toBeLessThan(noops.length);
  });

  it('is not asked about for all of a wide structure at once', () => {
    const told = rated(
      {},
      {
        steps: [{ parallel: Array.from({ length: 400 }, () => 'a') }],
        world: { freeSlots: 1_000 },
      },
    );
    const first = told.decide();
    expect('rates' in first && first.rates.length).toBeLessThan(30);
    const waits = told.with(only({ kind: 'full', until: t0 + 5_000 })).decide();
    expect(waits).toMatchObject({ kind: 'wait', for: 'rate', until: t0 + 5_000 });
  });

  it('reads what earlier steps left in attachments before it asks for the value of its key', () => {
    const told = rated({ key: 'results.b', per: 1_500 }, { steps: ['b', 'a'] });
    told.go();
    told.did('b', 'much');
    const reference = { $attachment: 'result-0-1.json', bytes: 70_000 };
    told.edit({ steps: told.steps.map((step) => ({ ...step, result: reference })) });
    expect(told.decide()).toMatchObject({ kind: 'look_up', attachments: ['result-0-1.json'] });
  });

  it('is asked about by the engines that can run it, one after the other', () => {
    const names = ['p0', 'p1', 'p2', 'p3'];
    const told = rated();
    const kinds = names.map((id) => {
      const peers = names.filter((name) => name !== id).map((name) => peer(['a'], [], name));
      return told.with({ id, peers, seenAt: t0 }).decide().kind;
    });
    expect(kinds.toSorted()).toEqual(['acquire', 'wait', 'wait', 'wait']);
  });

  it('tells the length of a window in its own unit', () => {
    const told = rated({ per: 1_500 });
    const wait = told.with(only({ kind: 'full', until: t0 + 700 })).decide();
    expect(wait).toMatchObject({ because: expect.stringContaining('(2 per 1500 ms)') as string });
  });
});
