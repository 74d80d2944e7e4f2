import { describe, expect, it } from 'vitest';
import { Cluster } from './cluster.js';
import { judge, type Start } from './judge.js';
import { Beliefs } from './beliefs.js';
import { merged, revise, leavesOf, Tree } from './revisions.js';
import { runSchedule } from './schedule.js';
import { emptyTally, lastLine, tally, wrongs, type Tally } from './tally.js';
import { Timeline } from './timeline.js';
import type { Confirms } from './worker.js';
import { gateSeed } from '../support/properties.js';
import { attempt, leaf } from '../replicas/resolve/leaves.js';
import { chanceFrom } from '../chaos/chance.js';
import type { WriteAnswer } from '../../src/replicas/resolve/protocol.js';
import type { LiveStep } from '../../src/model/step.js';

type Runs = {
  readonly confirms: Confirms;
  /** The seed before the first; 0 unless it says otherwise. */
  readonly from?: number;
  readonly isLocking?: boolean;
  /** Ends the search before all have run. */
  readonly until?: (total: Tally) => boolean;
};

/** Runs schedules one after the other; tells what went wrong in each. */
function run(schedules: number, { confirms, from = 0, isLocking = true, until }: Runs) {
  let total = emptyTally;
  const told: string[] = [];
  for (let seed = from + 1; seed <= from + schedules && until?.(total) !== true; seed += 1) {
    const engines = 2 + (seed % 2);
    const verdict = runSchedule({ seed, engines, confirms, isLocking });
    total = tally(total, verdict);
    const replay = `npm run schedules -- --seed ${seed} --engines ${engines} --schedules 1 --trace`;
    if (wrongs(verdict).length > 0) told.push(`${wrongs(verdict).join(' ')}\n  ${replay}`);
  }
  return { total, told };
}

describe('schedules of faults on three copies', () => {
  it('start nothing twice, lose nothing and leave nothing behind', () => {
    const { total, told } = run(400, { confirms: 'all', from: gateSeed });
    expect(told).toEqual([]);
    expect(lastLine(total)).toMatch(/^schedules=400 double=0 stuck=0 lost=0 unexplained=0 /);
    // Most run the faults they are meant to, and most jobs get through.
    expect(total.starts).toBeGreaterThan(800);
    expect(total.repeated.lease).toBeGreaterThan(10);
  });

  it('start things twice when claims are not confirmed', () => {
    const until = ({ double }: Tally): boolean => double > 3;
    // One in 40 does, since one order of engines holds for a whole job.
    const { total } = run(500, { confirms: 'none', from: 460, until });
    expect(total.double).toBeGreaterThan(3);
  });

  it('run a child twice when what makes it is not confirmed', () => {
    const until = ({ double }: Tally): boolean => double > 0;
    // One in 400 does; the search begins shortly before one that is known, and goes on from there.
    const { total } = run(2_000, { confirms: 'claims', from: 1_040, until });
    expect(total.double).toBeGreaterThan(0);
  });

  it('run jobs of one target at the same time when no locks are taken', () => {
    const { total, told } = run(100, { confirms: 'all', isLocking: false });
    expect(total.double).toBeGreaterThan(0);
    expect(told.join()).toMatch(/ of k\d is started while .* runs\./);
  });

  it('are the same for the same seed', () => {
    const traces = [1, 2].map(() => {
      const lines: string[] = [];
      runSchedule({ seed: 7, engines: 3, confirms: 'all', trace: (line) => lines.push(line) });
      return lines;
    });
    expect(traces[0]).toEqual(traces[1]);
    expect(traces[0]?.some((line) => line.includes('STARTS'))).toBe(true);
  });
});

describe('a copy', () => {
  const first = revise(undefined, leaf('', []));
  const second = revise(first, leaf('', ['0#1 $$ready a']));
  const rival = revise(first, leaf('', ['0#1 $$ready b']));

  it('takes the first of several writers of a revision', () => {
    const copy = new Tree();
    expect([first, second, rival, second].map((next) => copy.write(next))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(copy.leaves).toEqual([second]);
  });

  it('takes what another one has with its history, and has two leaves then', () => {
    const copy = new Tree();
    copy.write(first);
    copy.write(second);
    const third = revise(rival, leaf('', ['0#1 $$active b']));
    expect([copy.graft(third), copy.graft(third), copy.graft(rival)]).toEqual([true, false, false]);
    expect(leavesOf(copy.leaves).map(({ _rev }) => _rev)).toEqual([third.rev, second.rev]);
  });

  it('has no say about revisions that another one has gone on from', () => {
    expect(merged([[first], [second], [second]])).toEqual([second]);
    expect(merged([[second], [rival]])).toEqual([second, rival]);
    expect(merged([[first]])).toEqual([first]);
  });
});

describe('the cluster', () => {
  const calm = { dropped: 0, unheard: 0, broken: 0, slow: 0, stray: 0, repeated: 0, endAt: 1e9 };
  const doc = { _id: 'j', _rev: '', type: 'job' };

  /** Two writers of one revision through different nodes; what they are told. */
  function race(seed: number): readonly string[] {
    const timeline = new Timeline();
    const onChange = (): void => undefined;
    const chance = chanceFrom(seed);
    const cluster = new Cluster({ faults: { ...calm, outages: [] }, timeline, chance, onChange });
    cluster.submit(doc);
    while (timeline.next());
    const _rev = String(cluster.leaves()[0]?._rev);
    const told: string[] = [];
    const tell = (stored: WriteAnswer): void => void told.push(stored.kind);
    cluster.write(0, { ...doc, _rev, by: 'a' }, tell);
    cluster.write(1, { ...doc, _rev, by: 'b' }, tell);
    while (timeline.next());
    return told.sort();
  }

  it('tells at most one of two writers that it won, and some both that they may have', () => {
    const ends = Array.from({ length: 300 }, (_, seed) => race(seed).join(' '));
    const count = (end: string): number => ends.filter((one) => one === end).length;
    expect(count('conflict written')).toBeGreaterThan(30);
    expect(count('unknown written')).toBeGreaterThan(30);
    expect(count('written written')).toBe(0);
  });
});

describe('a verdict', () => {
  const start = (claim: string, job: Start['job'], at: number): Start => ({
    step: attempt(`0#1 $$active ${claim}`) as LiveStep,
    engine: claim,
    job,
    at,
  });
  const first = start('a', leaf('2-x', ['0#1 $$active a']), 1);
  const done = leaf('9-x', ['0#1 $$complete a'], { state: '$$complete' });
  const judged = (second: Start, beliefs = new Beliefs()) =>
    judge({
      ...{ starts: [first, second], settled: [], stopped: new Set(), beliefs },
      ...{ returned: new Map(), submitted: [] },
      ...{ leaves: new Map([['j', [done]]]), isStuck: false },
    });

  it.each([
    ['the same claim again', start('a', leaf('3-x', ['0#1 $$active a']), 2)],
    ['one beside it', start('b', leaf('3-x', ['0#1 $$active a', '0#2 $$active b']), 2)],
    ['one that does not know of it', start('b', leaf('2-y', ['0#1 $$active b']), 2)],
    ['one of a step that is done', start('b', leaf('3-x', ['0#1 $$complete a']), 2)],
  ])('calls %s a double start', (_title, second) => {
    expect(judged(second).double).toHaveLength(1);
  });

  it('excuses what was believed dead before, and only before', () => {
    const second = start('b', leaf('3-x', ['0#2 $$active b']), 2);
    const by = (at: number): Beliefs => {
      const beliefs = new Beliefs();
      beliefs.set('b', 'a', true, at);
      return beliefs;
    };
    expect(judged(second, by(1)).double).toEqual([]);
    expect(judged(second, by(1)).repeated.lease).toBe(1);
    expect(judged(second, by(3)).double).toHaveLength(1);
  });

  describe('about jobs that lock', () => {
    const j = { _id: 'j', target: 'disk', locks: 'disk.*' };
    const rival = leaf('2-k', ['0#1 $$active b'], { _id: 'k' });
    const second = start('b', rival, 5);
    const verdict = (k: object, returnedAt?: number, ends = [done, rival]) =>
      judge({
        ...{ starts: [first, second], settled: [], stopped: new Set(), beliefs: new Beliefs() },
        returned: new Map(returnedAt === undefined ? [] : [['a', returnedAt]]),
        submitted: [j, { _id: 'k', ...k }],
        ...{ leaves: new Map(ends.map((one) => [one._id, [one]])), isStuck: false },
      });

    it.each([
      ['the same target', { target: 'disk' }, undefined, 1],
      ['the same target, once the other attempt returned', { target: 'disk' }, 4, 0],
      ['the same target, before the other attempt returns', { target: 'disk' }, 6, 1],
      ['the same target with other parameters', { target: 'disk', params: { n: 1 } }, undefined, 0],
      [
        'patterns that match the target of the other',
        { target: 'disk', params: { n: 1 }, locks: 'disk.*' },
        undefined,
        1,
      ],
      ['a pattern alone', { locks: 'disk.*' }, undefined, 0],
    ])('calls a start beside the other a double one: %s', (_title, k, at, found) => {
      expect(verdict(k, at).double).toHaveLength(found);
    });

    it('calls it lost when all of them are refused', () => {
      const refused = (id: string, name: string) => ({
        ...leaf('3-x', [], { _id: id, state: '$$complete', failure: { name } }),
      });
      const ends = [refused('j', 'TargetTaken'), refused('k', 'TargetLocked')];
      const told = 'all jobs were refused what they lock';
      expect(verdict({ target: 'disk' }, 4, ends).lost).toEqual([told]);
      expect(verdict({ target: 'disk' }, 4, [done, refused('k', 'TargetTaken')]).lost).toEqual([]);
    });
  });

  it('calls an end lost that was stored and is not in the job', () => {
    const beliefs = new Beliefs();
    const settled = [{ job: 'j', claim: 'b', outcome: { kind: 'done' } as const }];
    const nothing = { starts: [], returned: new Map<string, number>(), submitted: [] };
    const evidence = { ...nothing, settled, stopped: new Set<string>(), beliefs, isStuck: true };
    const verdict = judge({ ...evidence, leaves: new Map([['j', [done]]]) });
    expect([verdict.lost.length, verdict.stuck.length]).toEqual([1, 1]);
    expect(wrongs(verdict)).toEqual([
      'STUCK: something is under way.',
      'LOST: b ended, but is undefined in the end.',
    ]);
  });
});
