import { describe, expect, it } from 'vitest';
import type { Displacement } from '../../../src/decide/queries.js';
import type { PermitAnswer, PermitHolder } from '../../../src/decide/world.js';
import type { Concurrency } from '../../../src/model/concurrency.js';
import type { Task } from '../../../src/model/task.js';
import { permitMove } from '../../../src/decide/compete/permit.js';
import type { LiveJob } from '../../../src/model/job.js';
import { flow, liveJob, peer, t0, world } from '../../support/builders.js';
import { story, type Setting } from '../story.js';

const holder = (job: string, more: Partial<PermitHolder> = {}): PermitHolder => ({
  ...{ job, at: t0, nonce: `nonce-${job}`, lock: `lock:${job}`, ...more },
});
const full = (key: string, ...by: readonly PermitHolder[]): PermitAnswer => ({
  ...{ kind: 'full', key, by },
});

describe('a job of a flow with concurrency', () => {
  const key = 'limit ["DEFAULT","vip"] "acme"';
  const vip = { name: 'vip', key: 'params.customer', limit: 2 };
  const told = (more: Partial<Setting> = {}, concurrency: Concurrency = vip) =>
    story({ steps: ['a'], job: { params: { customer: 'acme' } }, ...more, flow: { concurrency } });
  const keyed = (more?: Partial<Setting>, concurrency?: Concurrency) =>
    told(more, concurrency).answering({ 'flow.concurrency.key': 'acme' });

  it('asks for the key first, over the job and its parameters', () => {
    expect(told().decide()).toMatchObject({
      kind: 'look_up',
      rule: 'permit',
      questions: [
        {
          ...{ id: 'flow.concurrency.key', expression: 'params.customer' },
          context: { params: { customer: 'acme' }, job: { flow: 'f' } },
        },
      ],
    });
  });

  it('asks for a permit of the limit for that value', () => {
    const wants = [{ key, most: 2, strategy: 'queue', value: '"acme"' }];
    expect(keyed().decide()).toMatchObject({ kind: 'acquire', permits: [{ id: key, wants }] });
  });

  it('begins with it, and lists its lock', () => {
    const permits = { [key]: { kind: 'held', ids: ['lock:p'] } as const };
    expect(keyed({ world: { permits } }).decide()).toMatchObject({
      kind: 'claim',
      job: { locked: { permits: ['lock:p'] } },
    });
  });

  it('takes the permits of all its limits at once, each once', () => {
    const concurrency = [{ limit: 1 }, vip, { ...vip, limit: 5 }];
    const own = 'limit ["DEFAULT","flow","f",0] null';
    const id = ['f::DEFAULT', own, key].join(' & ');
    const answers = { 'flow.concurrency[1].key': 'acme', 'flow.concurrency[2].key': 'acme' };
    const asking = story({ steps: ['a'], flow: { max_running: 3, concurrency } });
    expect(asking.answering(answers).decide()).toMatchObject({ permits: [{ id }] });
    const ids = ['lock:m', 'lock:o', 'lock:v'];
    expect(asking.with({ permits: { [id]: { kind: 'held', ids } } }).decide()).toMatchObject({
      job: { locked: { permit: 'lock:m', permits: ['lock:o', 'lock:v'] } },
    });
  });

  it('waits in the line of the limit that is full', () => {
    const by = [holder('a'), holder('b')];
    expect(keyed({ world: { permits: { [key]: full(key, ...by) } } }).decide()).toMatchObject({
      ...{ kind: 'wait', for: 'permit', lines: [{ key, by, most: 2 }] },
      because: 'All permits of limit vip for "acme" are taken (2): a, b.',
    });
  });

  it.each<[string, readonly PermitHolder[], string]>([
    ['nobody by name', [], '.'],
    [
      'the first holders',
      [1, 2, 3, 4, 5, 6, 7].map((n) => holder(`j${n}`)),
      ': j1, j2, j3, j4, j5 and 2 more.',
    ],
    [
      'no job of another owner',
      [holder('a'), holder('x', { foreign: true }), holder('y', { foreign: true })],
      ': a and 2 of other owners.',
    ],
  ])('names %s', (_title, by, end) => {
    const intent = keyed({ world: { permits: { [key]: full(key, ...by) } } }).decide();
    expect(intent).toHaveProperty(
      'because',
      `All permits of limit vip for "acme" are taken (2)${end}`,
    );
  });

  it('fails with exit 3 when the key cannot be evaluated', () => {
    const answers = { 'flow.concurrency.key': { ok: false, reason: 'No.' } } as const;
    expect(told({ world: { answers } }).decide()).toMatchObject({
      kind: 'write',
      job: {
        exit: 3,
        failure: {
          name: 'LimitKeyError',
          message: 'The "key" of limit vip cannot be evaluated: No.',
        },
      },
    });
  });

  it('has a key also without any parameters', () => {
    const { params: _none, ...bare } = liveJob(flow(['a'], { concurrency: vip }));
    const questions = [{ context: { params: {} } }];
    expect(permitMove(bare, t0, world())).toMatchObject({ kind: 'look_up', questions });
  });

  it('leaves slices of a map to their job', () => {
    const slice = { of: 'x', from: 0 } as unknown as Record<string, unknown>;
    const { job } = story({ steps: ['a'], flow: { concurrency: { limit: 1 } } });
    expect(permitMove({ ...job, slice } as unknown as LiveJob, t0, world())).toBeUndefined();
  });

  it('has the key null where the key gives nothing', () => {
    const nothing = told().answering({ 'flow.concurrency.key': undefined });
    expect(nothing.decide()).toMatchObject({ permits: [{ wants: [{ value: 'null' }] }] });
  });

  it('is cancelled at once by cancel_newest', () => {
    const permits = { [key]: full(key, holder('a')) };
    const newest = { ...vip, strategy: 'cancel_newest' } as const;
    expect(keyed({ world: { permits } }, newest).decide()).toMatchObject({
      kind: 'write',
      job: {
        ...{ state: '$$cancelled', exit: 130, steps: [] },
        failure: {
          name: 'LimitReached',
          message: expect.stringContaining('limit vip for "acme" (2) were taken') as string,
        },
      },
    });
  });
});

describe('a job that has the oldest holder cancelled (cancel_oldest)', () => {
  const key = 'limit ["DEFAULT","flow","f",0] null';
  const ask = (by: readonly PermitHolder[], more: Partial<Setting> = {}) =>
    story({
      ...{ steps: ['a'], job: { _id: 'new' }, ...more },
      flow: { concurrency: { limit: 1, strategy: 'cancel_oldest' } },
      world: { permits: { [key]: full(key, ...by) }, ...more.world },
    }).decide();
  const asked = (by: readonly PermitHolder[], more: Partial<Setting> = {}): Displacement[] => {
    const intent = ask(by, more);
    return intent.kind === 'acquire' ? [...intent.displaces] : [];
  };

  it('L5: asks the one that has its permit longest, by a request with the reason', () => {
    expect(asked([holder('b', { at: t0 - 1 }), holder('a', { at: t0 - 9 })])).toEqual([
      {
        ...{ lock: 'lock:a', nonce: 'nonce-a', wantedBy: 'new' },
        request: {
          ...{ _id: 'request:cancel:a:nonce-a', type: 'request', job: 'a', action: 'cancel' },
          ...{
            by: 'job new',
            reason: 'Job new needs its permit of the limit of flow f (1 in all, "cancel_oldest").',
          },
        },
      },
    ]);
  });

  it.each<[string, readonly PermitHolder[], readonly string[]]>([
    ['of equals the first lock', [holder('b'), holder('a'), holder('c')], ['a']],
    ['none that is being cancelled', [holder('a', { cancelling: true }), holder('b')], ['b']],
    ['none that was asked for another job', [holder('a', { wantedBy: 'x' }), holder('b')], ['b']],
    [
      'the same again until it is being cancelled',
      [holder('a'), holder('b', { wantedBy: 'new' })],
      ['b'],
    ],
    ['no second one', [holder('a'), holder('b', { wantedBy: 'new', cancelling: true })], []],
    ['nobody where all were asked', [holder('a', { wantedBy: 'x' })], []],
    ['not itself', [holder('new')], []],
    ['no job of another owner', [holder('a', { foreign: true }), holder('b')], ['b']],
    ['none of another owner again', [holder('a', { foreign: true, wantedBy: 'new' })], []],
    ['none that came later', [holder('a', { newer: true })], []],
    ['none that may give its permit back', [holder('a', { undecided: true })], []],
    ['none that it would be cancelled with', [holder('a', { kin: true })], []],
  ])('L5, L6: asks %s', (_title, by, jobs) => {
    expect(asked(by).map(({ request }) => request.job)).toEqual(jobs);
  });

  it('L6: does not ask the jobs that it was made for', () => {
    const parent = { job: 'p', step: '0', depth: 2, root: 'r' };
    expect(asked([holder('p'), holder('r')], { job: { _id: 'new', parent } })).toEqual([]);
  });

  it('waits when it has asked', () => {
    const intent = ask([holder('a')], { world: { displaced: ['nonce-a'] } });
    expect(intent).toMatchObject({ kind: 'wait', for: 'permit' });
  });
});

describe('a step of a task with concurrency', () => {
  const limited = (concurrency: Concurrency, more: Partial<Task> = {}): Task => ({
    ...{ type: 'task', name: 'a', concurrency, ...more },
  });
  const id = '0 limit ["DEFAULT","task","a",0] null';
  const key = id.slice(2);
  const one = [limited({ limit: 1 })];

  it('asks for a permit before it is claimed, and lists its lock while it runs', () => {
    const told = story({ steps: ['a', 'b'], tasks: one });
    expect(told.decide()).toMatchObject({
      ...{ kind: 'acquire', permits: [{ id, step: '0', wants: [{ key, most: 1 }] }] },
      forTask: { task: { name: 'a' }, queue: 'default' },
    });
    told.with({ permits: { [id]: { kind: 'held', ids: ['lock:p'] } } }).go();
    expect(told.steps).toMatchObject([{ state: '$$active', permits: ['lock:p'] }]);
    told.did('a');
    expect(told.steps.map(({ permits }) => permits)).toEqual([['lock:p'], undefined]);
  });

  it('tells which permits are of a step that has ended', () => {
    const told = story({ steps: ['a', 'a', 'a'], tasks: one });
    const held = (path: string) => ({
      [path + id.slice(1)]: { kind: 'held', ids: ['p'] } as const,
    });
    told.with({ permits: { ...held('0'), ...held('1') } }).go();
    told.did('a').go();
    expect(told.steps.map(({ state }) => state)).toEqual(['$$complete', '$$active']);
    expect(told.did('a').decide()).toMatchObject({ permits: [{ step: '2', over: ['p'] }] });
  });

  it('waits for one without taking time of a flow that has not begun', () => {
    const permits = { [id]: full(key, holder('x')) };
    const intent = story({ steps: ['a'], tasks: one, world: { permits } }).decide();
    expect(intent).toMatchObject({ kind: 'wait', for: 'permit', lines: [{ key }] });
    expect(intent).not.toHaveProperty('until');
  });

  it('waits no longer than the flow and its accept_timeout allow', () => {
    const tasks = [limited({ limit: 1 }, { accept_timeout: 500 })];
    const permits = { ['1' + id.slice(1)]: full(key, holder('x')) };
    const told = story({ steps: ['b', 'a'], tasks, flow: { timeout: 2_000 }, world: { permits } });
    told.go();
    expect(told.at(100).did('b').decide()).toMatchObject({ kind: 'wait', until: t0 + 600 });
    const patient = story({
      steps: ['b', 'a'],
      tasks: one,
      world: { permits },
      flow: { timeout: 2_000 },
    });
    patient.go();
    expect(patient.at(100).did('b').decide()).toMatchObject({ kind: 'wait', until: t0 + 2_000 });
  });

  it('has its key evaluated over what its templates see', () => {
    const tasks = [limited({ limit: 1, key: 'params.to' })];
    const told = story({ steps: ['a'], tasks, job: { params: { a: { to: 'x' } } } });
    expect(told.decide()).toMatchObject({
      kind: 'look_up',
      questions: [
        { id: '0.concurrency.key', context: { params: { to: 'x' }, step: { name: 'a' } } },
      ],
    });
    told.with({ answers: { '0.concurrency.key': { ok: false, reason: 'No.' } } });
    expect(told.decide()).toMatchObject({ job: { exit: 3, failure: { name: 'LimitKeyError' } } });
  });

  it('has a key of parameters whose templates are filled in', () => {
    const tasks = [
      limited({ limit: 1, key: 'params.to' }, { params: { to: '{{job.params.site}}' } }),
    ];
    const told = (params: Record<string, unknown>) =>
      story({ steps: ['a'], tasks, job: { params } }).decide();
    expect(told({ site: 'x' })).toMatchObject({
      questions: [{ context: { params: { to: 'x' } } }],
    });
    const wrong = [limited({ limit: 1, key: 'params.to' }, { params: { to: '{{(}}' } })];
    expect(story({ steps: ['a'], tasks: wrong }).decide()).toMatchObject({
      job: { exit: 3, failure: { name: 'TemplateError' } },
    });
  });

  it('is not cancelled for a job that may give its permit back', () => {
    const tasks = [limited({ limit: 1, strategy: 'cancel_newest' })];
    const permits = { [id]: full(key, holder('x', { undecided: true })) };
    const intent = story({ steps: ['a'], tasks, world: { permits } }).decide();
    expect(intent).toMatchObject({ kind: 'wait', for: 'permit', lines: [{ key }] });
  });

  it('reads large results first that its key may need', () => {
    const tasks = [limited({ limit: 1, key: 'results.z' })];
    const told = story({ steps: ['z', 'a'], tasks });
    told.go();
    told.did('z', { $attachment: 'result-0-1.json', bytes: 70_000 });
    expect(told.decide()).toMatchObject({ kind: 'look_up', attachments: ['result-0-1.json'] });
  });

  it('is cancelled for good by cancel_newest, and nothing tries it again', () => {
    const tasks = [limited({ limit: 1, strategy: 'cancel_newest' }, { retry: 5 })];
    const permits = { [id]: full(key, holder('x')) };
    const told = story({ steps: ['a'], tasks, world: { permits }, flow: { retry: 3 } });
    told.go();
    expect(told.steps).toMatchObject([{ state: '$$cancelled', exit: 130 }]);
    expect(told.ending).toEqual({ state: '$$complete', exit: 130, failure: 'LimitReached' });
  });

  it('asks the job of the oldest holder to cancel, for the step', () => {
    const tasks = [limited({ limit: 1, strategy: 'cancel_oldest' })];
    const permits = { [id]: full(key, holder('x', { step: '0' })) };
    const intent = story({ steps: ['a'], tasks, world: { permits }, job: { _id: 'j' } }).decide();
    expect(intent).toMatchObject({ displaces: [{ wantedBy: 'j 0', request: { job: 'x' } }] });
  });

  it('fails when the store refuses the permit', () => {
    const permits = { [id]: { kind: 'refused', reason: 'No.' } as const };
    const told = story({ steps: ['a'], tasks: one, world: { permits } });
    expect(told.decide()).toMatchObject({ job: { exit: 3, failure: { name: 'StoreRefused' } } });
  });

  it('needs no other permit where its job has one of the same limit', () => {
    const shared = { name: 'x', limit: 2 };
    const tasks = [limited(shared)];
    const name = 'limit ["DEFAULT","x"] null';
    const told = (lock: string) =>
      story({
        ...{ steps: ['a'], tasks, flow: { concurrency: shared } },
        world: { permits: { [name]: { kind: 'held', ids: [lock] } } },
      });
    const covered = told(`lock:permit ${name} 1`);
    expect(covered.go()).toMatchObject({ kind: 'claim' });
    expect(covered.steps[0]).not.toHaveProperty('permits');
    expect(told('lock:of another').decide()).toMatchObject({ kind: 'acquire' });
  });

  it('needs no other permit in a slice of a map of that job', () => {
    const shared = { name: 'x', limit: 1 };
    const name = 'limit ["DEFAULT","x"] null';
    const lock = `lock:permit ${name} 0`;
    const tasks = [limited(shared)];
    const steps: Setting['steps'] = [{ map: { over: [1, 2], slice: 1, do: 'a' } }];
    const told = story({
      ...{ steps, tasks, flow: { concurrency: shared } },
      world: { permits: { [name]: { kind: 'held', ids: [lock] } } },
    });
    for (let i = 0; i < 5 && told.children.length === 0; i += 1) told.go();
    const [slice] = told.children as readonly LiveJob[];
    expect(slice).toMatchObject({ slice: { permits: [lock] } });
    const within = story({ steps, tasks, flow: { concurrency: shared } });
    expect(within.decide({ ...(slice as LiveJob), _rev: '1-s' })).toMatchObject({ kind: 'claim' });
  });

  it('needs permits of its other limits all the same', () => {
    const shared = { name: 'x', limit: 2 };
    const tasks = [limited([shared, { limit: 1 }])];
    const name = 'limit ["DEFAULT","x"] null';
    const own = 'limit ["DEFAULT","task","a",1] null';
    const permits: Record<string, PermitAnswer> = {
      [name]: { kind: 'held', ids: [`lock:permit ${name} 0`] },
      [`0 ${own}`]: { kind: 'held', ids: ['lock:own'] },
    };
    const told = story({ steps: ['a'], tasks, flow: { concurrency: shared }, world: { permits } });
    told.go();
    expect(told.steps[0]).toMatchObject({ permits: ['lock:own'] });
  });

  it('asks for them also where its job has a permit of max_running alone', () => {
    const permits = { 'f::DEFAULT': { kind: 'held', ids: ['lock:m'] } as const };
    const told = story({ steps: ['a'], tasks: one, flow: { max_running: 1 }, world: { permits } });
    expect(told.decide()).toMatchObject({ kind: 'acquire', permits: [{ step: '0' }] });
  });

  it('holds its permit while it waits for a child job', () => {
    const tasks = [limited({ limit: 1 }, { flow: 'g' })];
    const permits = { [id]: { kind: 'held', ids: ['lock:p'] } as const };
    const told = story({ steps: ['a'], tasks, world: { permits, roots: { j: 'live' } } });
    expect(told.with({ permits: {} }).decide()).not.toHaveProperty('forTask');
    told.with({ permits });
    told.go();
    expect(told.steps).toMatchObject([{ state: '$$waiting', permits: ['lock:p'] }]);
  });

  it('asks for as many permits at once as there are slots', () => {
    const told = story({
      ...{ steps: [{ parallel: ['a', 'a', 'a'] }], tasks: one, world: { freeSlots: 2 } },
    });
    const intent = told.decide();
    expect(intent.kind === 'acquire' ? intent.permits.length : 0).toBe(2);
  });

  it('is asked for first by the engine that goes first among those that can run it', () => {
    const peers = [peer(['a'], [], 'p1'), peer(['b'], [], 'p2')];
    const asks = ['e1', 'e2', 'e3', 'e4'].map((me) => {
      const around = { id: me, peers, seenAt: t0 };
      return story({ steps: ['a'], tasks: one, world: around }).decide().kind;
    });
    expect(new Set(asks)).toEqual(new Set(['acquire', 'wait']));
  });

  it('is begun beside others that wait for a permit', () => {
    const told = story({ steps: [{ parallel: ['a', 'b'] }], tasks: one, world: { freeSlots: 9 } });
    const path = '0.parallel.0';
    told.with({ permits: { [`${path} ${key}`]: full(key, holder('x')) } });
    expect(told.go()).toMatchObject({ kind: 'claim', steps: [{ task: 'b' }] });
    expect(told.did('b').decide()).toMatchObject({ kind: 'wait', for: 'permit', lines: [{ key }] });
  });
});
