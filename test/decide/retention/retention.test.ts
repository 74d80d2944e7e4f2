import fc from 'fast-check';
import { overdueSubjects } from '../../../src/decide/retention/subjects.js';
import { describe, expect, it } from 'vitest';
import { isWorthCompacting } from '../../../src/decide/retention/compaction.js';
import { expiredJobs, isTooOld, type EndedJob } from '../../../src/decide/retention/expired.js';
import {
  archiveFor,
  archivesIn,
  limitFor,
  retentionRules,
  toldRules,
  type RetentionRules,
} from '../../../src/decide/retention/rules.js';
import { scansFor } from '../../../src/decide/retention/scans.js';
import { endedStatuses, type Retain } from '../../../src/model/retain.js';
import { writtenSpanMs } from '../../../src/model/span.js';
import { runs } from '../../support/properties.js';

const now = Date.UTC(2026, 0, 31);
const day = 86_400_000;

const flowDoc = (name: string, retain?: unknown, owner = 'DEFAULT') => ({
  ...{ name, owner },
  ...(retain === undefined ? {} : { retain }),
});

const rulesOf = (flows: readonly object[], usual?: Retain): RetentionRules =>
  retentionRules(flows as Readonly<Record<string, unknown>>[], usual, 'jobs').rules;

/** A job that ended so many days before now. */
const ended = (id: string, days: number, more: Partial<EndedJob> = {}): EndedJob => ({
  ...{ id, flow: 'f', owner: 'DEFAULT', status: 'succeeded', end: now - days * day },
  ...more,
});

describe('expiredJobs', () => {
  it.each<[string, Retain | undefined, readonly EndedJob[], readonly string[]]>([
    ['keeps all without a rule', undefined, [ended('a', 900)], []],
    ['keeps statuses that no rule names', { failed: { count: 0 } }, [ended('a', 900)], []],
    [
      'removes what is older than the age, by the end',
      { succeeded: { age: 'P30D' } },
      [ended('new', 29), ended('just', 30), ended('old', 30.001)],
      ['old age'],
    ],
    ['takes ages in milliseconds', { succeeded: { age: day } }, [ended('a', 2)], ['a age']],
    [
      'removes all but the newest of a count, the oldest last',
      { succeeded: { count: 2 } },
      [ended('d', 4), ended('a', 1), ended('c', 3), ended('b', 2)],
      ['c count', 'd count'],
    ],
    ['removes all with a count of 0', { succeeded: { count: 0 } }, [ended('a', 0)], ['a count']],
    [
      'removes what is beyond either limit',
      { succeeded: { age: 'P2D', count: 2 } },
      [ended('a', 0), ended('b', 1), ended('c', 1.5), ended('d', 3)],
      ['c count', 'd age'],
    ],
    [
      'counts each flow, owner and status by itself',
      { succeeded: { count: 1 }, failed: { count: 1 } },
      [
        ended('a', 1),
        ended('b', 2, { flow: 'g' }),
        ended('c', 3, { owner: 'me' }),
        ended('d', 4, { status: 'failed' }),
        ended('e', 5, { status: 'cancelled' }),
        ended('f', 6, { status: 'failed' }),
      ],
      ['f count'],
    ],
    [
      'keeps the higher id of two that ended together',
      { succeeded: { count: 1 } },
      [ended('b', 1), ended('a', 1), ended('c', 1)],
      ['b count', 'a count'],
    ],
  ])('%s', (_title, usual, jobs, expected) => {
    const found = expiredJobs(jobs, rulesOf([], usual), now);
    expect(found.map(({ job, because }) => `${job.id} ${because}`)).toEqual(expected);
  });

  it('leaves what satisfies the rule, and removes nothing else', () => {
    const limit = fc.oneof(
      fc.record({ age: fc.integer({ min: 0, max: 20 }).map((days) => days * day) }),
      fc.record({ count: fc.integer({ min: 0, max: 4 }) }),
      fc.record({
        age: fc.integer({ min: 0, max: 20 }).map((days) => `P${days}D`),
        count: fc.integer({ min: 0, max: 4 }),
      }),
    );
    const rule = fc.record(
      { succeeded: limit, failed: limit, cancelled: limit },
      { requiredKeys: [] },
    );
    const kind = {
      flow: fc.constantFrom('f', 'g', ''),
      owner: fc.constantFrom('DEFAULT', 'me'),
      status: fc.constantFrom(...endedStatuses),
      days: fc.integer({ min: 0, max: 25 }),
    };
    const jobsOf = fc.array(fc.record(kind), { maxLength: 40 });
    const check = fc.property(jobsOf, rule, fc.option(rule), (drawn, own, usual): void => {
      const jobs = drawn.map(({ days, ...more }, i) => ended(`j${i}`, days, more));
      const rules = rulesOf([flowDoc('f', own)], usual ?? undefined);
      const gone = new Set(expiredJobs(jobs, rules, now).map(({ job }) => job));
      for (const job of jobs) {
        const { age, count = Infinity } = limitFor(rules, job) ?? {};
        const same = jobs.filter(
          (one) => one.flow === job.flow && one.owner === job.owner && one.status === job.status,
        );
        const newer = same.filter(
          ({ end, id }) => end > job.end || (end === job.end && id > job.id),
        ).length;
        const isOld = age !== undefined && now - job.end > writtenSpanMs(age);
        expect(gone.has(job)).toBe(isOld || newer >= count);
        expect(same.filter((one) => !gone.has(one)).length).toBeLessThanOrEqual(count);
      }
    });
    fc.assert(check, runs(300));
  });

  it('takes no age for never too old', () => {
    expect(isTooOld({ end: 0 }, undefined, now)).toBe(false);
  });
});

describe('retentionRules', () => {
  const job = { flow: 'f', owner: 'me', status: 'failed' } as const;
  const usual: Retain = { failed: { count: 9 } };

  it.each<[string, readonly object[], number | undefined]>([
    ['the default where there is no flow', [], 9],
    ['the default where the flow says nothing', [flowDoc('f', undefined, 'me')], 9],
    ['the rule of the flow', [flowDoc('f', { failed: { count: 1 } }, 'me')], 1],
    ['nothing where the flow names other statuses', [flowDoc('f', {}, 'me')], undefined],
    ['the rule of the flow of DEFAULT', [flowDoc('f', { failed: { count: 2 } })], 2],
    [
      'the default where the own flow says nothing and that of DEFAULT does',
      [flowDoc('f', { failed: { count: 2 } }), flowDoc('f', undefined, 'me')],
      9,
    ],
    ['nothing where the rule cannot be read', [flowDoc('f', { failed: 5 }, 'me')], undefined],
    [
      'the rule of two documents that agree',
      [flowDoc('f', { failed: { count: 1 } }, 'me'), flowDoc('f', { failed: { count: 1 } }, 'me')],
      1,
    ],
    [
      'nothing where two documents differ',
      [flowDoc('f', { failed: { count: 1 } }, 'me'), flowDoc('f', undefined, 'me')],
      undefined,
    ],
  ])('gives %s', (_title, flows, count) => {
    expect(limitFor(rulesOf(flows, usual), job)?.count).toBe(count);
  });

  it('tells what cannot be followed, by flow', () => {
    const wrong = [flowDoc('f', { failed: { count: -1 } }), flowDoc('g'), flowDoc('g', {})];
    expect(retentionRules(wrong, undefined, 'jobs').problems).toEqual([
      {
        flow: 'f::DEFAULT',
        message:
          'retain.failed.count must be a number of jobs (a whole number, 0 or more); it is -1.',
      },
      { flow: 'g::DEFAULT', message: 'retain is not the same in all documents of this flow.' },
    ]);
  });
});

describe('scansFor', () => {
  const nothing = new Set<string>();

  it.each<[string, readonly object[], Retain | undefined, readonly object[]]>([
    ['nothing without a rule', [flowDoc('f')], undefined, []],
    ['nothing for rules that name nothing', [flowDoc('f', {})], {}, []],
    ['nothing for a rule that cannot be read', [flowDoc('f', 5)], undefined, []],
    [
      'old jobs only for ages, up to the shortest',
      [
        flowDoc('f', { failed: { age: 'P2D' } }),
        flowDoc('f', { failed: { age: day }, cancelled: { age: 'P3D' } }, 'me'),
      ],
      undefined,
      [{ flow: 'f', statuses: ['failed', 'cancelled'], except: nothing, to: now - day }],
    ],
    [
      'all jobs for a count',
      [flowDoc('f', { failed: { age: day, count: 1 } })],
      undefined,
      [{ flow: 'f', statuses: ['failed'], except: nothing }],
    ],
    [
      'the flows with rules by themselves, and the others by status',
      [flowDoc('f', { failed: { count: 1 } }), flowDoc('g')],
      { succeeded: { age: day }, cancelled: { count: 3 } },
      [
        { flow: 'f', statuses: [...endedStatuses], except: nothing },
        { statuses: ['succeeded'], except: new Set(['f']), to: now - day },
        { statuses: ['cancelled'], except: new Set(['f']) },
      ],
    ],
  ])('gives %s', (_title, flows, usual, expected) => {
    expect(scansFor(rulesOf(flows, usual), now)).toEqual(expected);
  });
});

describe('archives', () => {
  const usual: Retain = { succeeded: { age: 'P1D' }, archive: { folder: 'a' } };
  const kind = { flow: 'f', owner: 'me', status: 'succeeded' } as const;

  it.each<[string, readonly object[], Retain | undefined, object | undefined]>([
    ['are none where nothing names one', [flowDoc('f', { failed: { count: 1 } })], {}, undefined],
    ['are those of the default', [], usual, { folder: 'a' }],
    [
      'are those of the default for a flow with limits only',
      [flowDoc('f', { failed: { count: 1 } })],
      usual,
      { folder: 'a' },
    ],
    [
      'are those of the flow before the default',
      [flowDoc('f', { archive: { database: 'jobs-old' } })],
      usual,
      { database: 'jobs-old' },
    ],
    ['are none where the flow says so', [flowDoc('f', { archive: {} })], usual, undefined],
    ['are none for a rule that cannot be read', [flowDoc('f', 5)], undefined, undefined],
  ])('%s', (_title, flows, given, wanted) => {
    expect(archiveFor(rulesOf(flows, given), kind)).toEqual(wanted);
  });

  const bucket = { bucket: 'b', endpoint: 'http://s3', prefix: 'p/' };

  it.each<[string, object, Retain, object | string]>([
    [
      'the database of tws.json',
      { database: 'old' },
      { archive: { database: 'old' } },
      { database: 'old' },
    ],
    [
      'another database of the server',
      { database: 'other' },
      usual,
      'retain.archive.database must be that of tws.json, or begin with "jobs-" or "jobs_".',
    ],
    [
      'the database of the jobs',
      { database: 'jobs' },
      {},
      'retain.archive.database must be that of tws.json, or begin with "jobs-" or "jobs_".',
    ],
    [
      'the bucket of tws.json, where that is, with another prefix',
      { s3: { bucket: 'b', prefix: 'f/' } },
      { archive: { s3: bucket } },
      { s3: { ...bucket, prefix: 'f/' } },
    ],
    [
      'another bucket',
      { s3: { bucket: 'other' } },
      usual,
      'retain.archive.s3.bucket must be that of "archive" in tws.json.',
    ],
  ])('of a flow: %s', (_title, archive, given, wanted) => {
    const flow = flowDoc('f', { succeeded: { count: 1 }, archive }) as Record<string, unknown>;
    const { rules, problems } = retentionRules([flow], given, 'jobs');
    const [problem] = problems;
    expect(problem?.message ?? archiveFor(rules, kind)).toEqual(wanted);
    expect(limitFor(rules, kind)).toEqual(problem === undefined ? { count: 1 } : undefined);
  });

  it('are listed once each', () => {
    const flows = [
      flowDoc('f', { archive: { folder: 'a' } }),
      flowDoc('g', { archive: { database: 'jobs_old' } }),
      flowDoc('h', { archive: {} }),
      flowDoc('i'),
    ];
    expect(archivesIn(rulesOf(flows, usual))).toEqual([{ folder: 'a' }, { database: 'jobs_old' }]);
  });
});

it('tells what is kept: the default first, then the flows with rules of their own', () => {
  const flows = [
    flowDoc('quick', { succeeded: { count: 2 } }),
    flowDoc('gone', { failed: { count: 0 }, archive: {} }),
    flowDoc('plain'),
    flowDoc('wrong', 7),
  ];
  const usual = { succeeded: { age: 'P1D' }, archive: { folder: 'old' } };
  expect(toldRules(rulesOf(flows, usual))).toEqual([
    { limits: { succeeded: { age: 'P1D' } }, archive: 'folder old' },
    { flow: 'quick::DEFAULT', limits: { succeeded: { count: 2 } }, archive: 'folder old' },
    { flow: 'gone::DEFAULT', limits: { failed: { count: 0 } } },
  ]);
  expect(toldRules(rulesOf(flows.slice(0, 1)))).toEqual([
    { flow: 'quick::DEFAULT', limits: { succeeded: { count: 2 } } },
  ]);
});

it.each([
  [999, 0, false],
  [1_000, 4_000, true],
  [1_000, 4_001, false],
  [90_000, 10_000, true],
])(
  'after %i documents were removed and %i are left a compaction is worth it: %s',
  (removed, left, is) => {
    expect(isWorthCompacting(removed, left)).toBe(is);
  },
);

// Shows M-04.
it.each<[string, number | undefined, number, boolean]>([
  ['SR1 stays as long as its own retain says', 10, 5, false],
  ['SR1 stays for ever where its retain is 0', 0, 5, false],
  ['SR1 goes when its retain is over', 4, 0, true],
  ['SR1 goes when the setting says so', undefined, 5, true],
  ['SR1 stays without a setting', undefined, 0, false],
  ['SR1 stays until the time is over', 9, 0, false],
])('a subject %s', (_title, retain, usual, isOver) => {
  expect(overdueSubjects([{ updated: 1, retain }], usual, 10)).toHaveLength(isOver ? 1 : 0);
});
