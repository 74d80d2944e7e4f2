import { describe, expect, it } from 'vitest';
import { explain } from '../../src/client/explain.js';
import { observe } from '../../src/client/observer.js';
import type { Reason, Seen } from '../../src/client/reason.js';
import { countInHand, countOwn } from '../../src/client/service.js';
import type { SeenEngine } from '../../src/client/pulse.js';
import type { World } from '../../src/decide/world.js';
import type { StoredDocument } from '../../src/model/document.js';
import { parseDocument } from '../../src/reading/parse.js';
import { task } from '../support/builders.js';

const now = Date.parse('2026-11-21T10:00:00Z');

function engine(id: string, more: object = {}, alive = true): SeenEngine {
  const doc = { _id: `engine:${id}`, type: 'engine', host: 'h', pid: 1, version: '0' } as const;
  const facts = { plugins: ['noop'], labels: [], slots: 2, started: 0, beat: 1, state: 'running' };
  return { engine: { ...doc, ...facts, ...more } as SeenEngine['engine'], alive };
}

const fresh = (more: object = {}): StoredDocument => ({
  _id: 'j',
  _rev: '1-0',
  type: 'job',
  flow: 'f',
  ...more,
});

const live = (more: object = {}): StoredDocument =>
  fresh({
    owner: 'me',
    state: '$$ready',
    run: 1,
    start: now - 5_000,
    params: {},
    steps: [],
    tasks: { structure: 'sequence', sequence: [{ task: 'a' }, { task: 'b' }] },
    definitions: { a: task('a', { plugin: 'noop' }), b: task('b', { plugin: 'rare' }) },
    flow_definition: { type: 'flow', name: 'f', owner: 'DEFAULT' },
    ...more,
  });

const step = (more: { readonly state?: string } & Record<string, unknown>): object => ({
  index: 0,
  path: '0',
  name: 'a',
  task: 'a',
  plugin: 'noop',
  phase: 'main',
  attempt: 1,
  run: 1,
  state: '$$active',
  engine: 'engine:e',
  pid: 1,
  claim: 'n:0',
  params: {},
  accepted: now - 4_000,
  start: now - 4_000,
  ...(more.state === '$$complete' ? { end: now - 1_000, exit: 0 } : {}),
  ...more,
});

const failed = {
  state: '$$error',
  end: now - 1_000,
  exit: 2,
  failure: { name: 'E', message: 'no luck' },
};
const flow = {
  _id: 'flow:f',
  _rev: '1-0',
  type: 'flow',
  name: 'f',
  owner: 'DEFAULT',
  tasks: ['a'],
};

function reasonsOf(seen: Partial<Seen>): readonly Reason[] {
  const facts: Partial<World> = {
    task: (name) => ({ kind: 'found', value: task(name, { plugin: 'noop' }) }),
  };
  return explained({ job: live(), engines: [engine('e')], flow, now, ...seen }, facts);
}

function explained(seen: Seen, facts?: Partial<World>): readonly Reason[] {
  return explain(seen, observe(parseDocument(seen.job), seen, facts));
}

type Case = readonly [
  title: string,
  seen: Partial<Seen>,
  kinds: readonly string[],
  sentence: RegExp,
];

const line = (most: number, jobs: readonly string[]) => ({
  ...{ key: 'k', title: 'limit x', most },
  by: jobs.map((job) => ({ job, at: 0, nonce: job, lock: `lock:${job}` })),
});

describe('explain', () => {
  // Shows X-39.
  it.each<Case>([
    ['an ended job', { job: fresh({ state: '$$complete', exit: 2 }) }, ['ended'], /ended: failed/],
    [
      'a failed item of a map, without the attempts of the others',
      {
        job: live({
          state: '$$complete',
          exit: 2,
          failure: { name: 'E', message: 'no luck', step: 'a' },
          steps: [
            step({ ...failed, path: '0', structure: 'map', state: '$$complete' }),
            step({ ...failed, path: '0.map.0', state: '$$complete' }),
            step({ ...failed, path: '0.map.1' }),
          ],
        }),
      },
      ['ended'],
      /^It has ended: failed at step "a": no luck\.$/,
    ],
    [
      'a failed job with its step, its attempts and its reason',
      {
        job: live({
          state: '$$complete',
          exit: 2,
          failure: { name: 'E', message: 'no luck', step: 'a' },
          steps: [step(failed), step({ ...failed, attempt: 2 })],
        }),
      },
      ['ended'],
      /^It has ended: failed at step "a" after 2 attempts: no luck\.$/,
    ],
    [
      'a wish to retry that was refused',
      { job: fresh({ state: '$$complete', exit: 0, retry_refused: 'There is no step "z".' }) },
      ['ended'],
      /^It has ended: succeeded\. Its retry was refused: There is no step "z"\.$/,
    ],
    [
      'a decider whose plugin nobody has',
      {
        job: live({
          tasks: {
            structure: 'sequence',
            sequence: [{ decider: 'chief', task: 'chief', name: 'd' }],
          },
        }),
      },
      ['unserved'],
      /No engine has plugin "chief", which step "d" needs\./,
    ],
    [
      'a new job for which no engine has a free slot',
      { job: fresh(), inHand: new Map([['engine:e', 2]]) },
      ['busy'],
      /^It has not begun: all 2 slots are busy; it goes on/,
    ],
    [
      'a limit of which all permits are taken',
      { job: fresh(), lines: [line(2, ['a', 'b'])] },
      ['full'],
      /^All 2 permits of limit x are taken; now: a, b\.$/,
    ],
    [
      'more holders than a limit that was lowered has permits',
      { job: fresh(), lines: [line(1, ['a', 'b', 'c', 'd', 'e'])] },
      ['full'],
      /^The only permit of limit x is taken; now: a, b, c and 2 more\.$/,
    ],
    [
      'a permit that others get first',
      { job: fresh(), lines: [line(1, [])] },
      ['full'],
      /^It waits for a permit of limit x; earlier jobs are ahead\.$/,
    ],
    ['no engine at all', { engines: [] }, ['no_engine'], /No engine is alive\.$/],
    [
      'engines that give no sign of life',
      { engines: [engine('e', {}, false), engine('d', {}, false)] },
      ['no_engine'],
      /all 2 give no sign of life/,
    ],
    [
      'engines that take no more work',
      { engines: [engine('e', { state: 'draining' })] },
      ['no_engine'],
      /No engine is alive/,
    ],
    ['a paused job', { job: live({ paused: true }) }, ['paused'], /The job is paused/],
    [
      'a paused job without engines',
      { job: live({ paused: true }), engines: [] },
      ['paused', 'no_engine'],
      /The job is paused/,
    ],
    [
      'who paused a job, when and why',
      {
        job: live({
          paused: true,
          requests: [
            { action: 'resume', by: 'bob', at: now - 9_000 },
            { action: 'pause', by: 'ada', reason: 'wrong month', at: now - 60_000 },
          ],
        }),
      },
      ['paused'],
      /^The job is paused by ada, 1 min ago: wrong month\.$/,
    ],
    [
      'a job that was paused by hand after somebody let it go on',
      { job: live({ paused: true, requests: [{ action: 'resume', by: 'bob', at: now }] }) },
      ['paused'],
      /^The job is paused\.$/,
    ],
    [
      'a target that another job holds',
      { job: fresh(), holder: { job: 'j0', kind: 'target', target: 'disk-1' } },
      ['target_held'],
      /^Target "disk-1" is held by job j0 with the same parameters; this job is refused/,
    ],
    [
      'a target that another job locks while no engine is there',
      { job: fresh(), engines: [], holder: { job: 'j0', kind: 'pattern', target: 'disk-1' } },
      ['no_engine', 'target_held'],
      /No engine is alive/,
    ],
    [
      'a paused flow',
      { flow: { ...flow, paused: true } },
      ['flow_paused'],
      /Flow "f" is paused \(document flow:f\)/,
    ],
    [
      'a paused queue',
      { queueControl: { _id: 'c', type: 'queue-control', queue: 'default', paused: true } },
      ['queue_paused'],
      /Queue "default" is paused, and all its jobs with it\./,
    ],
    [
      'a time that has not come',
      { job: fresh({ exec_after: '2026-11-21T10:05:00Z' }) },
      ['scheduled'],
      /waits until 2026-11-21T10:05:00.000Z \(in 5 min\)/,
    ],
    [
      'a retry that is due later',
      { job: live({ steps: [step({ ...failed, due: now + 2_000 })], next_due: now + 2_000 }) },
      ['retry'],
      /Step "a" is tried again at .* \(in 2 s\); attempt 1 failed: no luck\./,
    ],
    [
      'another wait of a job that has begun',
      {
        job: live({
          steps: [step({ state: '$$complete' })],
          next_due: now + 60_000,
          resume_at: now + 60_000,
        }),
      },
      ['waiting'],
      /\(in 1 min\)/,
    ],
    [
      'a step that runs',
      { job: live({ steps: [step({ attempt: 2 })] }) },
      ['running'],
      /Step "a" \(attempt 2\) has run for 4 s on engine:e/,
    ],
    [
      'a step of a dead engine',
      { job: live({ steps: [step({ engine: 'engine:gone' })] }) },
      ['engine_lost'],
      /engine:gone, which gives no sign of life/,
    ],
    [
      'a step of the last engine, which is dead',
      { job: live({ steps: [step({})] }), engines: [engine('e', {}, false)] },
      ['engine_lost', 'no_engine'],
      /another engine takes it over/,
    ],
    [
      'several steps of dead engines, of which none is alive',
      {
        job: live({ steps: [step({}), step({ index: 1, path: '1', name: 'b' })] }),
        engines: [engine('e', {}, false)],
      },
      ['engine_lost', 'no_engine', 'engine_lost'],
      /another engine takes it over/,
    ],
    [
      'a child job',
      { job: live({ steps: [step({ state: '$$waiting', child: 'j:0:1' })] }) },
      ['child'],
      /waits for its child job j:0:1/,
    ],
    [
      'a child job that was made again',
      {
        job: live({
          steps: [step({ state: '$$waiting', child: 'j:0:1', remade: now - 60_000 })],
        }),
      },
      ['child'],
      /waits for its child job j:0:1, which was made again \(.*ago\) because its document was deleted\.$/,
    ],
    [
      'a step that waits for a time',
      { job: live({ steps: [step({ state: '$$waiting', until: now + 3_000 })] }) },
      ['waiting'],
      /Step "a" waits until/,
    ],
    [
      'a step that waits for something else',
      { job: live({ steps: [step({ state: '$$waiting' })] }) },
      ['waiting'],
      /something from outside/,
    ],
    [
      'a flow that is not there',
      { job: fresh(), flow: undefined },
      ['flow_missing'],
      /no flow "f"/,
    ],
    [
      'a disabled flow',
      { job: fresh(), flow: { ...flow, enabled: false } },
      ['flow_disabled'],
      /disabled/,
    ],
    [
      'a plugin that no engine has',
      { job: live({ steps: [step({ state: '$$complete' })] }) },
      ['unserved'],
      /No engine has plugin "rare", which step "b" needs/,
    ],
    [
      'a label that no engine carries',
      {
        job: live({
          definitions: { a: task('a', { plugin: 'noop', labels: ['gpu'] }), b: task('b') },
        }),
      },
      ['unserved'],
      /No engine with plugin "noop" carries the label gpu/,
    ],
    [
      'a queue that no engine serves',
      { job: live({ queue: 'gpu' }) },
      ['unserved'],
      /No engine that could take step "a" serves the queue "gpu" of the job/,
    ],
    [
      'a queue of the flow that no engine serves',
      {
        job: live({ flow_definition: { type: 'flow', name: 'f', owner: 'DEFAULT', queue: 'gpu' } }),
      },
      ['unserved'],
      /queue "gpu"/,
    ],
    [
      'a queue that only a busy engine serves',
      {
        job: live({ parent: { job: 'p', step: '0', queue: 'gpu' } }),
        engines: [engine('e'), engine('g', { queues: ['gpu'], slots: 1 })],
        inHand: new Map([['engine:g', 1]]),
      },
      ['busy'],
      /the only slot is busy; it goes on/,
    ],
    [
      'a handler that no engine can run',
      {
        job: live({
          steps: [step(failed)],
          definitions: { a: task('a', { plugin: 'noop', error: 'b' }), b: task('b') },
        }),
      },
      ['unserved'],
      /plugin "b", which step "b" needs/,
    ],
    [
      'engines whose slots are all in use',
      { inHand: new Map([['engine:e', 2]]) },
      ['busy'],
      /Step "a" waits: all 2 slots are busy; it goes on when a running step has ended/,
    ],
    [
      'a job that uses its share of the slots',
      { inHand: new Map([['engine:e', 2]]), ownInHand: 1 },
      ['busy'],
      /^Step "a" waits: all 2 slots are busy \(1 by this job and those made with it: that is its share while others wait\); it goes on when/,
    ],
    ['a free slot', { inHand: new Map([['engine:e', 1]]) }, ['soon'], /between two steps/],
    ['a new job', { job: fresh() }, ['soon'], /has not begun/],
  ])('tells %s', (_title, seen, kinds, sentence) => {
    const reasons = reasonsOf(seen);
    expect(reasons.map(({ kind }) => kind)).toEqual(kinds);
    expect(reasons[0]?.because).toMatch(sentence);
  });

  it('tells of a pause before what the job waits for', () => {
    const open = { ...step({ state: '$$waiting', name: 'w' }), signal: 'go' };
    const job = live({ paused: true, steps: [open] });
    const kinds = explained({ job, engines: [], now }).map(({ kind }) => kind);
    expect(kinds).toEqual(['paused', 'waiting']);
  });

  it('tells what was noticed beside, the last three', () => {
    const job = fresh({
      state: '$$complete',
      exit: 2,
      failure: { name: 'E', message: 'The job is not valid: no luck' },
      problems: [
        { path: 'a', message: 'one' },
        { path: 'b', message: 'no luck' },
        { path: 'signals', message: 'two.' },
        { path: '', message: 'three' },
        { path: 'steps', message: 'Undo of step "a" failed' },
        { path: 'steps' },
        'spoilt',
      ],
    });
    expect(explained({ job, engines: [], now })).toMatchObject([
      { kind: 'ended' },
      { kind: 'problem', because: 'Problem in "signals" (and 1 before): two.' },
      { kind: 'problem', because: 'Problem: three.' },
      { kind: 'problem', because: 'Problem in "steps": Undo of step "a" failed.' },
    ]);
  });

  it('says how a failed job goes on', () => {
    const [reason] = reasonsOf({ job: fresh({ state: '$$complete', exit: 2 }) });
    expect(reason?.todo).toContain('`tws retry j`');
  });

  it.each([
    ['ParamsInvalid', 'a', '{"a": {"NAME": VALUE}}'],
    ['ParamsUnfit', undefined, '{"NAME": VALUE}'],
  ])('says how parameters are changed after %s', (name, at, params) => {
    const failure = { name, message: 'no luck', ...(at === undefined ? {} : { step: at }) };
    const job = live({ state: '$$complete', exit: 3, failure, steps: at ? [step(failed)] : [] });
    expect(reasonsOf({ job })[0]?.todo).toContain(`\`tws retry j --params '${params}'\``);
  });

  it.each([
    [
      'there is no "job.params.custmer"',
      { customer: 'Ada' },
      /`tws retry j --params '\{"custmer": VALUE\}'`\. The job has "customer": if that was meant, .* `tws retry j --latest`\./,
    ],
    ['there is no "job.params.to.mail"', {}, /`tws retry j --params '\{"to": VALUE\}'`\.$/],
    ['there is no "results.a"', {}, /^Correct the template .* `tws retry j --latest`\.$/],
  ])('says what to do about a template that fails: %s', (reason, params, todo) => {
    const message = `The template in params.text cannot be filled in: ${reason}.`;
    const failure = { name: 'TemplateError', message, step: 'a' };
    const job = live({ state: '$$complete', exit: 3, failure, params, steps: [step(failed)] });
    expect(reasonsOf({ job })[0]?.todo).toMatch(todo);
  });

  it('lists the items of a map that failed in the last run, with their values, where that are several', () => {
    const items = ['a', { n: 1 }, 'c', 'd', 'e', 'f', 'g', 'h'];
    const mark = step({ path: '0', structure: 'map', state: '$$complete', result: { items } });
    const badly = items.map((_, i) => step({ ...failed, path: `0.map.${i}` }));
    const mended = step({ path: '0.map.0', state: '$$complete', attempt: 2 });
    const stopped = step({ ...failed, path: '0.map.7', state: '$$cancelled', attempt: 2 });
    const earlier = step({ ...failed, path: '0.map.8' });
    const steps = [
      earlier,
      ...[mark, ...badly, mended, stopped].map((one) => ({ ...one, run: 2 })),
    ];
    const failure = { name: 'E', message: '6 of 8 items failed: item 1: no luck', step: 'a' };
    const job = live({ state: '$$complete', exit: 2, failure, steps, run: 2 });
    expect(reasonsOf({ job }).slice(1)).toEqual([
      { kind: 'item', because: 'Item 1 ({"n":1}): no luck.' },
      ...['c', 'd', 'e', 'f'].map((item, i) => ({
        kind: 'item',
        because: `Item ${i + 2} ("${item}"): no luck.`,
      })),
      { kind: 'item', because: '1 more: see `tws history j`.' },
    ]);
  });

  it('tells of refusals until the same is granted', () => {
    const requests = [
      { action: 'skip', refused: 'no such step' },
      { action: 'retry', refused: 'no such step' },
      { action: 'retry' },
    ];
    const job = live({ state: '$$complete', exit: 2, requests });
    expect(reasonsOf({ job }).filter(({ kind }) => kind === 'refused')).toEqual([
      { kind: 'refused', because: 'The request "skip" was refused: no such step.' },
    ]);
  });

  it.each([
    [{ restored: 5, reason: 'It was restored.' }, 'It was restored.', 'once nothing works on'],
    [{}, 'All engines are disabled', "`tws enable '*'`."],
    [{ moving: {} }, 'All engines are disabled', '`tws move --undo`'],
  ])(
    'says that all engines are disabled, though copies of them look alive (%j)',
    (more, because, todo) => {
      const engineControl = { _id: 'c', _rev: '1-a', enabled: false, ...more };
      const [reason] = reasonsOf({ job: fresh(), engineControl });
      expect(reason).toMatchObject({ kind: 'no_engine' });
      expect(reason?.because).toContain(because);
      expect(reason?.todo).toContain(todo);
    },
  );

  it('says nothing of a plugin as long as some step that may come next can be run', () => {
    const tasks = { structure: 'parallel', parallel: [{ task: 'a' }, { task: 'b' }] };
    expect(reasonsOf({ job: live({ tasks }) }).map(({ kind }) => kind)).toEqual(['soon']);
  });

  it('sees that the flow itself is tried again', () => {
    const job = live({ steps: [step(failed)], run: 2 });
    expect(reasonsOf({ job })[0]?.kind).toBe('soon');
  });

  it.each([
    ['steps that are no list', { steps: 7 }],
    ['a tree that is none', { tasks: { sequence: 'x' } }],
    ['steps that are nothing', { steps: [null, 'x', { state: 7 }] }],
    ['times that are none', { next_due: 'never', exec_after: {} }],
    ['a time beyond all dates', { next_due: 1e300 }],
  ])('reads %s without a stumble', (_title, more) => {
    expect(reasonsOf({ job: live(more) }).length).toBeGreaterThan(0);
  });
});

describe('countOwn', () => {
  it('counts the steps of a job and of those made for the same root', () => {
    const busy = (_id: string, more: object) => ({
      ...live({ ...more, steps: [step({ state: '$$active', engine: 'engine:e' })] }),
      _id,
    });
    const child = busy('p:0:1', { parent: { job: 'p', step: '0' } });
    const jobs = [busy('p', {}), child, busy('q', {})];
    expect(countOwn(jobs, child)).toBe(2);
    expect(countOwn(jobs, { ...child, owner: 'somebody' })).toBe(0);
  });
});

describe('countInHand', () => {
  it('counts the steps that engines have claimed or run', () => {
    const jobs = [
      live({ steps: [step({}), step({ state: '$$ready' }), step({ state: '$$complete' })] }),
      live({ steps: [step({ engine: 'engine:d' })] }),
    ];
    expect([...countInHand(jobs)]).toEqual([
      ['engine:e', 2],
      ['engine:d', 1],
    ]);
  });
});

describe('explain of a child job', () => {
  const above = { _id: 'p', _rev: '9-x', type: 'job', start: 7 };
  const waited = step({ state: '$$error', child: 'j', name: 'sub' });
  const ended = { ...above, state: '$$complete', exit: 2, steps: [waited] };
  const child = (more: object): StoredDocument =>
    live({ parent: { job: 'p', step: '0', start: 7 }, ...more });
  const parents = (parent: StoredDocument, more: object = {}) =>
    explained({ job: child(more), engines: [engine('e')], now, parent }).filter(
      ({ kind }) => kind === 'parent',
    );

  it.each<[string, object]>([
    ['has failed, too', { state: '$$complete', exit: 2 }],
    ['goes on', {}],
    ['has succeeded meanwhile', { state: '$$complete', exit: 0 }],
  ])('that %s tells of a parent that has failed with it', (_title, more) => {
    expect(parents(ended, more)).toEqual([
      {
        kind: 'parent',
        because:
          'Its parent job p, whose step "sub" failed with this job, has ended: failed. It stays as it is, also when this job succeeds.',
        todo: 'Let it go on with `tws retry p`: it takes the result of this job.',
      },
    ]);
  });

  it.each<[string, StoredDocument]>([
    ['has not ended', { ...ended, state: 'sub-0' }],
    ['has succeeded', { ...ended, exit: 0 }],
    ['was cancelled', { ...ended, state: '$$cancelled', exit: 130 }],
    ['is another job of that id', { ...ended, start: 8 }],
    ['failed elsewhere', { ...ended, steps: [step({ state: '$$complete', child: 'j' })] }],
    ['had another child after it', { ...ended, steps: [waited, step({ child: 'k' })] }],
    ['does not name it', { ...ended, steps: [] }],
  ])('says nothing of a parent that %s', (_title, parent) => {
    expect(parents(parent)).toEqual([]);
  });
});

describe('explain of notifications', () => {
  const ended = live({ state: '$$complete', exit: 0, end: now });
  const notification = (more: object): StoredDocument => ({ ...live(more), _id: 'j:notify:1:0' });

  it('tells how it goes with telling of the end', () => {
    const done = notification({ state: '$$complete', exit: 0 });
    const failed = { ...notification({ state: '$$complete', exit: 2 }), _id: 'j:notify:1:1' };
    const seen = { job: ended, engines: [engine('a')], now, notifications: [done, failed] };
    expect(explained(seen)).toEqual([
      { kind: 'ended', because: 'It has ended: succeeded.' },
      { kind: 'notification', because: 'Its notification j:notify:1:0: succeeded.' },
      {
        kind: 'notification',
        because: 'Its notification j:notify:1:1: failed.',
        todo: 'See `tws explain j:notify:1:1`.',
      },
    ]);
  });

  it('leads from a notification that waits to the job that it tells of', () => {
    const notifies = { job: 's', run: 1, status: 'failed', depth: 1 };
    const job = notification({ notifies });
    expect(explained({ job, engines: [engine('a')], now })).toMatchObject([
      { kind: 'waiting', child: 's', todo: 'See `tws explain s`.' },
    ]);
    const released = notification({ notifies: { ...notifies, since: now } });
    expect(explained({ job: released, engines: [engine('a')], now })[0]?.child).toBeUndefined();
  });
});

describe('explain of a failure that was caught', () => {
  it('tells the failure and the branch, also when the job has succeeded', () => {
    const caught = { structure: 'catch', try: { task: 'a' }, catch: [{ do: { task: 'b' } }] };
    const tasks = { structure: 'sequence', sequence: [caught] };
    const steps = [
      step({ ...failed, path: '0.try' }),
      step({ path: '0.catch.0', task: 'b', name: 'b', index: 1, state: '$$complete' }),
    ];
    const job = live({ tasks, steps, state: '$$complete', exit: 0, end: now });
    expect(explained({ job, engines: [engine('a')], now })).toEqual([
      { kind: 'ended', because: 'It has ended: succeeded.' },
      {
        kind: 'caught',
        because:
          'Step "a" failed, which was caught: E: no luck. The flow went on in branch 1 of its "catch".',
      },
    ]);
    const odd = live({ tasks: { structure: 'catch' }, steps: [step({ path: '0.catch.0' })] });
    const kinds = explained({ job: odd, engines: [engine('a')], now }).map(({ kind }) => kind);
    expect(kinds).not.toContain('caught');
  });
});
