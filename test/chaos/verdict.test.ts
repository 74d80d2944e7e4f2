import { describe, expect, it } from 'vitest';
import type { StoredDocument } from '../../src/model/document.js';
import { isClean, judge, type Evidence, type Harm, type Life, type Verdict } from './verdict.js';
import type { Line } from './witness.js';

type Step = Readonly<Record<string, unknown>>;

const attempt = (more: Step = {}): Step => ({
  path: '0',
  attempt: 1,
  state: '$$complete',
  engine: 'engine:a',
  pid: 1,
  claim: 'c1',
  ...more,
});
const lostAttempt = attempt({ state: '$$error', failure: { name: 'EngineLost' } });
const second = attempt({ attempt: 2, pid: 2, claim: 'c2', engine: 'engine:b' });
const job = (steps: readonly Step[], more: Step = {}): StoredDocument => ({
  _id: 'one',
  _rev: '1-a',
  type: 'job',
  state: '$$complete',
  exit: 0,
  steps,
  ...more,
});
const line = (what: Line['what'], at: number, more: Partial<Line> = {}): Line => ({
  ...{ what, job: 'one', path: '0', attempt: 1, claim: 'c1', engine: 'engine:a', pid: 1, at },
  ...more,
});
const theSecond = { attempt: 2, claim: 'c2', engine: 'engine:b', pid: 2 };
const once = [line('begin', 1_000), line('effect', 1_100)];
const twice = [...once, line('begin', 5_000, theSecond), line('effect', 5_100, theSecond)];
const life = (pid: number, harms: readonly Harm[], more: Partial<Life> = {}): Life => ({
  ...{ number: pid, pid, from: 0, to: 9_000, offMs: 0, status: 0 },
  harms: [...harms, { kind: 'term', from: 9_000, to: 9_000 }],
  ...more,
});
/** Two engines that renew their leases every 500 ms. */
const steady = Array.from({ length: 19 }, (_, i) => i * 500);
const evidence = (given: Partial<Evidence>): Evidence => ({
  submitted: ['one'],
  documents: [job([attempt()])],
  lines: once,
  lives: [life(1, []), life(2, [])],
  beats: new Map([
    [1, steady],
    [2, steady],
  ]),
  leaseMs: 2_000,
  ...given,
});
const repeatedBy = (harms: readonly Harm[], more: Partial<Life> = {}): Evidence =>
  evidence({
    documents: [job([lostAttempt, second])],
    lines: twice,
    lives: [life(1, harms, more), life(2, [])],
  });

it('a job whose steps ran once leaves nothing to complain about', () => {
  expect(isClean(judge(evidence({})))).toBe(true);
});

it.each<[string, keyof Verdict, Partial<Evidence>]>([
  ['a job that is not there', 'lost', { documents: [], lines: [] }],
  ['a job that is not final', 'lost', { documents: [job([attempt()], { state: 'witness-1' })] }],
  ['a job that failed', 'lost', { documents: [job([attempt()], { exit: 2 })] }],
  ['a claim that was run twice', 'double', { lines: [...once, line('begin', 1_500)] }],
  [
    'a step that completed twice',
    'double',
    { documents: [job([attempt(), second])], lines: twice },
  ],
  ['a plugin called without a claim', 'contradictions', { lines: twice.slice(0, 3) }],
  ['a completed step without effect', 'contradictions', { lines: once.slice(0, 1) }],
  ['a conflict', 'conflicts', { documents: [job([attempt()], { _conflicts: ['1-b'] })] }],
  ['an engine that ended by itself', 'crashes', { lives: [life(1, [], { status: 1 })] }],
  ['an engine that would not end', 'crashes', { lives: [life(1, [], { hung: true })] }],
])('%s is found', (_title, finding, given) => {
  const verdict = judge(evidence(given));
  expect(verdict[finding]).toHaveLength(1);
  expect(isClean(verdict)).toBe(false);
});

it.each<[keyof Verdict['repeated'], Evidence]>([
  ['kill', repeatedBy([{ kind: 'kill', from: 1_200, to: Infinity }], { status: 'SIGKILL' })],
  ['fence', repeatedBy([{ kind: 'stop', from: 1_200, to: 4_800 }])],
  ['outage', repeatedBy([{ kind: 'outage', from: 1_050, to: 2_000 }])],
  ['silent', { ...repeatedBy([]), beats: new Map([[1, [500, 1_000, 4_900]]]) }],
  [
    'silent',
    // Claimed at 3,000 by its own clock, which is 9 s ahead, and called long after.
    {
      ...repeatedBy([], { offMs: 9_000 }),
      documents: [job([{ ...lostAttempt, accepted: 12_000 }, second])],
      lines: [line('begin', 8_000), ...twice.slice(2).map((it) => ({ ...it, at: it.at + 4_500 }))],
      beats: new Map([[1, [500, 2_500, 5_500, 6_000, 6_500, 7_000, 7_500, 8_000, 8_500, 9_000]]]),
    },
  ],
  [
    'handback',
    evidence({
      documents: [job([attempt({ state: '$$cancelled', failure: { name: 'Released' } }), second])],
      lines: twice,
    }),
  ],
])('a repeated attempt is put down to: %s', (reason, given) => {
  const verdict = judge(given);
  expect(verdict.repeated).toEqual({
    ...{ kill: 0, fence: 0, outage: 0, handback: 0, silent: 0 },
    [reason]: 1,
  });
  expect(isClean(verdict)).toBe(true);
});

it.each<[string, Evidence]>([
  ['nothing happened to its engine', repeatedBy([])],
  ['its engine was stopped long before', repeatedBy([{ kind: 'stop', from: -9_000, to: -5_000 }])],
  [
    'its engine was stopped only afterwards',
    repeatedBy([{ kind: 'stop', from: 6_000, to: 8_000 }]),
  ],
])('a repeated attempt is not explained when %s', (_title, given) => {
  expect(judge(given).unexplained).toHaveLength(1);
});

it('a job that was given up counts as final, but its lost attempts must be explained', () => {
  const failure = { name: 'CrashLimit' };
  const documents = [job([attempt({ state: '$$error', failure })], { exit: 4, failure })];
  const verdict = judge(evidence({ documents }));
  expect(verdict).toMatchObject({ lost: [], givenUp: ['one'] });
  expect(verdict.unexplained).toHaveLength(1);
});

describe('a job with children', () => {
  const child = (id: string, claim: string): StoredDocument => ({
    ...job([attempt({ claim, task: 'witness' })]),
    _id: id,
  });
  const whole = [
    { ...job([attempt({ path: '1.parallel.1', claim: 'c1', task: 'witness' })]), _id: 'job-1' },
    child('job-1:0:1', 'c2'),
    child('job-1:1.parallel.0:1', 'c3'),
  ];
  const judged = (documents: readonly StoredDocument[]) => {
    const { lost, double } = judge(evidence({ submitted: ['job-1'], documents }));
    return { lost: lost.length, double: double.length };
  };

  it('has each of them once, and their steps', () => {
    expect(judged(whole)).toEqual({ lost: 0, double: 0 });
  });

  it('misses a child and its step', () => {
    expect(judged(whole.slice(0, 2))).toEqual({ lost: 2, double: 0 });
  });

  it('has a child too many, which ran its step as well', () => {
    expect(judged([...whole, child('job-1:0:1:1700', 'c4')])).toEqual({ lost: 0, double: 2 });
  });
});
