import { describe, expect, it } from 'vitest';
import type { Found } from '../../../src/decide/world.js';
import { initialise } from '../../../src/decide/start/initialise.js';
import { parseDocument } from '../../../src/reading/parse.js';
import { toTree } from '../../../src/structures/to-tree.js';
import type { Flow } from '../../../src/model/flow.js';
import type { NewJob } from '../../../src/model/job.js';
import {
  flow,
  frozen,
  newJob,
  t0,
  task,
  world,
  type WorldOptions,
} from '../../support/builders.js';
import { story } from '../story.js';

const tasks = [task('a', { params: { x: 1 } }), task('b', { params: { _rev: '2-b' } })];
const flows = [flow(['a', 'b'])];

function initialised(job: NewJob, options: WorldOptions = {}) {
  return initialise(frozen(job), t0, world({ flows, tasks, ...options }));
}

const many = <T>(length: number, make: (i: number) => T): readonly T[] =>
  Array.from({ length }, (_, i) => make(i));
const record = (length: number, name: string): object =>
  Object.fromEntries(many(length, (i) => [`${name}${i}`, 1]));
const long = 'x'.repeat(690);

describe('a job that is as large as it may be when it is written', () => {
  it.each<[title: string, flow: object, job: object]>([
    ['own keys', {}, record(9_980, 'mine')],
    ['steps', { tasks: many(5, () => many(1_990, () => 'a')) }, {}],
    ['lists of steps', { tasks: many(5, () => many(900, () => ['a'])) }, {}],
    ['steps with long names', { tasks: many(1_500, () => long) }, {}],
    ['steps after a cancel', { cancel: many(9_900, () => 'a') }, {}],
    ['handlers', { error: { parallel: many(1_990, () => ['a', 'a', 'a']) } }, {}],
    ['parameters', { params: record(24_000, 'f') }, { params: record(24_000, 'j') }],
    [
      'parameters by position',
      { params: { tasks: { sequence: many(2, () => record(12_000, 'p')) } } },
      {},
    ],
    ['data', {}, { data: record(24_900, 'd'), tags: many(9_000, (i) => `t${i}`) }],
  ])('is read when it has begun: %s', (_title, inFlow, inJob) => {
    const stored = (doc: object) => parseDocument({ ...doc, _id: 'x', _rev: '1-x' });
    const written = stored({ type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['a'], ...inFlow });
    const job = stored({ type: 'job', flow: 'f', ...inJob });
    if (written.kind !== 'flow' || !written.ok) throw new Error('The flow is refused.');
    if (job.kind !== 'job' || !job.ok) throw new Error('The job is refused.');
    const named = [task('a'), task(long)];
    const move = initialised(job.value as NewJob, { flows: [written.value], tasks: named });
    if (move.kind !== 'change') throw new Error(`It does not begin: ${move.kind}.`);
    const read = stored(JSON.parse(JSON.stringify(move.job)) as object);
    expect(read).toMatchObject({ kind: 'job', ok: true });
  });
});

describe('initialise', () => {
  // Shows B-03, B-04, K-05.
  it('sets state, start, snapshots, parameters and an empty list of steps at once', () => {
    const job = newJob({ owner: 'DEFAULT', params: { 'b-1': { y: 2 } } });
    const { tasks: tree, _rev, ...settings } = { ...flows[0] };
    expect(initialised(job)).toEqual({
      kind: 'change',
      job: {
        ...job,
        state: '$$ready',
        start: t0,
        tasks: tree,
        definitions: { a: tasks[0], b: tasks[1] },
        flow_definition: { ...settings, _rev },
        flow_rev: '3-flow',
        retry_delay: 0,
        params: { 'a-0': { x: 1 }, 'b-1': { _rev: '2-b', y: 2 } },
        steps: [],
        run: 1,
      },
    });
  });

  it('keeps the locks that the job it continues has handed on, and no others', () => {
    const locked = { locked: { target: 'lock:x' } };
    expect(initialised(newJob({ ...locked, continued_from: 'i' }))).toMatchObject({ job: locked });
    const move = initialised(newJob(locked));
    expect('job' in move && move.job).not.toHaveProperty('locked');
  });

  it('begins a copy of a job that has run with nothing of what came for that one', () => {
    const told = { signals: [{ id: 's', name: 'go', at: 1 }], notes: [], requests: [] };
    const move = initialised(newJob({ ...told, steps: [{ path: '0' }], exit: 2, run: 3 }));
    expect(move).toMatchObject({ job: { steps: [], run: 1 } });
    for (const key of [...Object.keys(told), 'exit']) {
      expect('job' in move && move.job).not.toHaveProperty(key);
    }
    expect(initialised(newJob(told))).toMatchObject({ job: told });
  });

  it('keeps keys it does not know', () => {
    expect(initialised(newJob({ mine: { deep: [1] } }))).toMatchObject({
      job: { mine: { deep: [1] } },
    });
  });

  it.each([
    ['the flow and tasks of the owner before those of DEFAULT', 'acme', '8-acme', 9],
    ['the flow and tasks of DEFAULT for other owners', 'other', '3-flow', 1],
    ['the flow and tasks of DEFAULT without an owner', undefined, '3-flow', 1],
  ])('takes %s', (_title, owner, rev, x) => {
    const own = { ...flow(['a'], { owner: 'acme' }), _rev: '8-acme' };
    const ownTask = task('a', { owner: 'acme', params: { x: 9 } });
    const job = newJob(owner === undefined ? {} : { owner });
    const move = initialised(job, { flows: [...flows, own], tasks: [...tasks, ownTask] });
    expect(move).toMatchObject({
      job: { owner: owner ?? 'DEFAULT', flow_rev: rev, params: { 'a-0': { x } } },
    });
  });

  it('takes tasks that stand in the job itself', () => {
    const move = initialised(frozen({ ...newJob(), tasks: toTree(['b']) }));
    expect(move).toMatchObject({
      job: {
        tasks: { sequence: [{ task: 'b' }] },
        flow_definition: { name: 'f', owner: 'DEFAULT' },
      },
    });
    expect(move).not.toHaveProperty('job.flow_rev');
  });

  it('needs no flow name beside tasks in the job', () => {
    const { flow: _none, ...rest } = newJob();
    const job = { ...rest, tasks: toTree(['b']) };
    expect(initialised(job)).toMatchObject({ job: { flow_definition: { name: '' } } });
  });

  // Shows A-08.
  it('keeps which edition of the flow it took', () => {
    const latest = [flow(['a', 'b'], { version: '2.1' })];
    expect(initialised(newJob(), { flows: latest })).toMatchObject({
      job: { flow_version: '2.1', flow_definition: { version: '2.1' } },
    });
    const copy = initialised(newJob({ flow_version: '1.0', run: 1 }));
    expect(copy).not.toHaveProperty('job.flow_version');
  });

  // Shows.
  it('takes the version that it asks for, and asks for it again as a copy', () => {
    const all = [
      flow(['a'], { version: '1' }),
      flow(['b'], { version: '2', current: true }),
      flow(['a', 'b'], { version: '3' }),
    ];
    const plain = initialised(newJob(), { flows: all });
    expect(plain).toMatchObject({ job: { flow_version: '2' } });
    expect(plain).not.toHaveProperty('job.flow_pinned');
    const third = initialised(newJob({ flow_version: '3' }), { flows: all });
    expect(third).toMatchObject({ job: { flow_version: '3', flow_pinned: true } });
    const copy = newJob({ flow_version: '3', flow_pinned: true, steps: [], run: 1, end: 5 });
    expect(initialised(copy, { flows: all })).toMatchObject({
      job: { flow_version: '3', flow_pinned: true },
    });
    const own = newJob({ flow_version: '3', tasks: toTree(['b']) });
    expect(initialised(own, { flows: all })).not.toHaveProperty('job.flow_pinned');
  });

  it('does without a version that is not there, as without a flow', () => {
    const all = [flow(['a'], { version: '1' }), flow(['b'])];
    const move = initialised(newJob({ flow_version: '7' }), { flows: all });
    expect(move).toMatchObject({
      job: {
        exit: 3,
        failure: {
          name: 'FlowVersionMissing',
          message:
            'Flow "f" of owner "DEFAULT" has no version "7"; it has 1. Store that version, or correct "flow_version" of the job.',
        },
      },
    });
    const none = initialised(newJob({ flow_version: '7' }));
    expect(none).toHaveProperty('job.failure.message', expect.stringContaining('has none'));
    const later = initialised(newJob({ flow_version: '7', paused: true }), { flows: all });
    expect(later).toMatchObject({ kind: 'wait' });
  });

  it('names the documents of which none is current', () => {
    const named = (_id: string, version: string) => ({ ...flow(['a'], { version }), _id });
    expect(initialised(newJob(), { flows: [named('x', '1'), named('y', '2')] })).toMatchObject({
      job: {
        failure: {
          name: 'FlowAmbiguous',
          message:
            'Flow "f" of owner "DEFAULT" has several versions and none of them is current; set "current": true in one of x, y.',
        },
      },
    });
  });

  it.each([
    ['the setting of the engine', {}, 700, 700],
    ['what the job says', { retry_delay: 9 }, 700, 9],
    ['nothing where it is the usual', {}, 1_000, undefined],
  ])('takes the wait before retries: %s', (_title, more, delay, expected) => {
    const move = initialised(newJob(more), { retry: { delay } });
    expect((move as { job?: { retry_delay?: number } }).job?.retry_delay).toBe(expected);
  });

  it('keeps how waits grow where the settings say something unusual', () => {
    const move = initialised(newJob(), { retry: { delay: 1_000, factor: 3, max: 9_000 } });
    expect(move).toMatchObject({ job: { retry_factor: 3, retry_max: 9_000 } });
  });

  it('reads parameters by position', () => {
    const params = { tasks: { sequence: [{ params: { x: 5 } }, { y: 6 }] } };
    expect(initialised(newJob({ params }))).toMatchObject({
      job: { params: { 'a-0': { x: 5 }, 'b-1': { y: 6 } } },
    });
  });

  // Shows A-12.
  it('reports search keys that the flow does not declare', () => {
    const declared: Found<Flow> = { kind: 'found', value: flow(['a'], { keys: ['order'] }) };
    const job = newJob({ keys: { order: 1, zz: 2 } });
    expect(initialised(job, { flow: () => declared })).toMatchObject({
      job: { state: '$$ready', problems: [{ path: 'keys.zz' }] },
    });
  });

  it('reports parameters that name no step', () => {
    expect(initialised(newJob({ params: { 'a-7': {}, a: {} } }))).toMatchObject({
      job: { problems: [{ path: 'params.a-7' }] },
    });
  });

  it.each([
    ['a time to come', t0 + 900, 900],
    ['a time in the past', t0 - 900, undefined],
    ['an ISO time', new Date(t0 + 900).toISOString(), 900],
  ])('counts the wait until exec_after, for %s', (_title, exec_after, heldMs) => {
    const move = initialised(newJob({ exec_after }));
    expect((move as { job?: { held_ms?: number } }).job?.held_ms).toBe(heldMs);
  });

  it('tells of an encrypted value in the notify of the job at once', () => {
    const url = 'https://hooks.example/x';
    const notify = [{ url }, { url, secret: 'tws:v2:AAAA' }];
    expect(initialised(newJob({ notify }))).toMatchObject({
      job: { state: '$$ready', problems: [{ path: 'notify[1].secret' }] },
    });
  });

  it('drops what an earlier run left in a copy of its job', () => {
    const traces = { exit: 2, end: 1, start: 1, failure: { name: 'X' }, result: 1, held_ms: 7 };
    const more = { next_due: 1, resume_at: 1, held_since: 1, problems: [], flow_rev: 'x', run: 4 };
    const by = { started_by: { event: 'e', entry: 0, problem: 'no' } };
    expect(initialised(newJob({ ...traces, ...more, ...by }))).toEqual(initialised(newJob()));
  });
});

describe('initialise, when the job cannot run,', () => {
  const problems = [{ path: 'x', message: 'x is wrong.' }];
  const cases: readonly [string, Found<Flow>, string, readonly unknown[] | undefined][] = [
    ['the flow is missing', { kind: 'absent' }, 'FlowMissing', undefined],
    ['the flow is twice there', { kind: 'ambiguous', ids: ['p', 'q'] }, 'FlowAmbiguous', undefined],
    ['the flow is not valid', { kind: 'invalid', id: 'p', problems }, 'InvalidFlow', problems],
    [
      'the flow is disabled',
      { kind: 'found', value: flow(['a'], { enabled: false }) },
      'FlowDisabled',
      undefined,
    ],
    [
      'the flow is deprecated',
      { kind: 'found', value: flow(['a'], { deprecated: 'Use "b".' }) },
      'FlowDeprecated',
      undefined,
    ],
    ['a task is missing', { kind: 'found', value: flow(['zzz']) }, 'TaskMissing', undefined],
  ];
  it('ends it with exit 3 because its trigger cannot be followed', () => {
    const by = { event: 'event:paid:7', entry: 0, problem: 'on[0].match gives neither.' };
    expect(initialised(newJob({ started_by: by }))).toMatchObject({
      job: {
        exit: 3,
        failure: { name: 'TriggerRefused', message: expect.stringContaining('on[0]') as string },
      },
    });
    expect(initialised(newJob({ started_by: null }))).toMatchObject({ job: { state: '$$ready' } });
  });

  // Shows, B-06.
  it.each(cases)('ends it with exit 3 because %s', (_title, found, name, listed) => {
    const move = initialised(newJob({ mine: 1 }), { flow: () => found });
    expect(move).toMatchObject({
      kind: 'change',
      job: {
        state: '$$complete',
        exit: 3,
        steps: [],
        start: t0,
        end: t0,
        mine: 1,
        failure: { name },
      },
    });
    expect((move as { job?: { problems?: unknown } }).job?.problems).toEqual(listed);
  });

  it.each([
    [true, 'Cancelled.'],
    [{ by: 'ann', reason: 'No longer wanted.' }, 'Cancelled by ann: No longer wanted.'],
  ])('ends it with exit 130 because it was cancelled before: %j', (cancel, message) => {
    const unknown = () => ({ kind: 'unknown' }) as const;
    expect(initialised(newJob({ cancel }), { flow: unknown })).toMatchObject({
      kind: 'change',
      job: {
        state: '$$cancelled',
        exit: 130,
        steps: [],
        end: t0,
        failure: { name: 'Cancelled', message },
      },
    });
  });

  it('runs it when the cancel was taken back', () => {
    expect(initialised(newJob({ cancel: false }))).toMatchObject({ job: { state: '$$ready' } });
  });
});

describe('initialise, when something is not known yet,', () => {
  it('asks for the flow', () => {
    const move = initialised(newJob({ owner: 'o' }), { flow: () => ({ kind: 'unknown' }) });
    expect(move).toMatchObject({ kind: 'look_up', flows: [{ name: 'f', owner: 'o' }] });
  });

  it('asks for all tasks at once', () => {
    const move = initialised(newJob({ owner: 'o' }), { task: () => ({ kind: 'unknown' }) });
    expect(move).toMatchObject({
      kind: 'look_up',
      tasks: [
        { name: 'a', owner: 'o' },
        { name: 'b', owner: 'o' },
      ],
    });
  });
});

describe('initialise, when the job is not to begin yet and something is not stored yet,', () => {
  const later = t0 + 60_000;
  const time = new Date(later).toISOString();
  const missing = { flow: () => ({ kind: 'absent' }) as const };
  const taskless = { flow: () => ({ kind: 'found', value: flow(['zzz']) }) as const };

  it.each([
    ['its flow', { exec_after: later }, missing, `Not before ${time}`, later],
    ['its flow', { exec_after: time, expires: t0 + 5 }, missing, `Not before ${time}`, t0 + 5],
    ['a task', { exec_after: later }, taskless, `Not before ${time}`, later],
    ['its flow', { paused: true, exec_after: later }, missing, 'The job is paused', undefined],
    ['its flow', { paused: true, expires: t0 + 5 }, missing, 'The job is paused', t0 + 5],
  ])('waits for %s: %j', (_what, more, given, because, until) => {
    const move = initialised(newJob(more), given);
    expect(move).toMatchObject({
      kind: 'wait',
      because: expect.stringContaining(`${because}; it cannot begin yet: There is no`) as string,
    });
    expect((move as { until?: number }).until).toBe(until);
  });

  it('ends it when it has expired before', () => {
    const job = newJob({ paused: true, expires: t0 });
    expect(initialised(job, missing)).toMatchObject({
      job: { exit: 5, failure: { name: 'Expired' } },
    });
  });

  it('looks for it when the job begins', () => {
    const told = story({ steps: ['a'], job: { exec_after: t0 + 100 }, world: missing });
    told.go();
    expect(told.job).not.toHaveProperty('state');
    told
      .at(100)
      .with({ flow: () => ({ kind: 'found', value: told.flow }) })
      .go();
    expect(told.running).toEqual(['a']);
    const late = story({ steps: ['a'], job: { exec_after: t0 + 100 }, world: missing });
    late.at(100).go();
    expect(late.ending).toMatchObject({ exit: 3, failure: 'FlowMissing' });
  });
});
