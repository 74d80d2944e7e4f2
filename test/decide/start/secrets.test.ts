import { describe, expect, it } from 'vitest';
import type { World } from '../../../src/decide/world.js';
import { expandParams } from '../../../src/decide/start/params.js';
import { givenParams, secretsOf } from '../../../src/decide/start/secrets.js';
import type { Flow } from '../../../src/model/flow.js';
import type { FinalJob, LiveJob } from '../../../src/model/job.js';
import { referenceText, type SecretReference } from '../../../src/model/secret-reference.js';
import type { Task } from '../../../src/model/task.js';
import { leavesOf } from '../../../src/structures/tree.js';
import type { Entry } from '../../../src/model/tree.js';
import { flow, liveJob, t0, task, world, newJob } from '../../support/builders.js';
import { decide } from '../../../src/decide/decide.js';
import { announce } from '../../../src/decide/finish/notifications.js';
import { initialise } from '../../../src/decide/start/initialise.js';
import { reopened } from '../../../src/decide/requests/reopen.js';
import { story } from '../story.js';

const of = (more: Partial<SecretReference> = {}): string =>
  referenceText({ kind: 'task', owner: 'DEFAULT', name: 'http', field: 'params.token', ...more });
const token = of();
const inFlow = of({ kind: 'flow', name: 'f', field: 'params.http.token' });
const inEntry = of({ kind: 'flow', name: 'f', field: 'tasks.0.params.token' });
const enc = 'tws:v1:aaaaaaaaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbb:cccccccccccccccccccccc:dd';

const http = (more: Partial<Task> = {}) =>
  task('http', { params: { url: 'good', token }, ...more });
const one = (more = {}) => flow([{ task: 'http', ...more }]);

type Case = {
  /** What the job has as its snapshot; default: what is stored. */
  readonly snapshot?: { readonly task?: Task; readonly flow?: Flow & { _rev: string } };
  readonly stored?: { readonly task?: Task | undefined; readonly flow?: Flow };
  readonly job?: Record<string, unknown>;
  readonly params?: Record<string, unknown>;
  readonly world?: Partial<World>;
};

function given({ snapshot = {}, stored = {}, job = {}, params, world: more = {} }: Case) {
  const definition = snapshot.task ?? stored.task ?? http();
  const defined = snapshot.flow ?? one();
  const now = { task: definition, flow: defined, ...stored };
  const definitions = { http: definition };
  const leaves = leavesOf(defined.tasks);
  const [leaf] = leaves;
  const whole = params ?? expandParams({}, leaves, defined, definitions)['http-0'];
  const live = { ...liveJob(defined), definitions, params: { 'http-0': whole }, ...job } as LiveJob;
  const known = world({ flows: [now.flow], tasks: now.task === undefined ? [] : [now.task] });
  const beginning = { leaf: leaf as NonNullable<typeof leaf>, phase: 'main' as const };
  return givenParams(live, beginning, definition, { ...known, ...more });
}

const failureOf = (answer: ReturnType<typeof given>) =>
  'unbegun' in answer
    ? [answer.unbegun.failure.name, answer.unbegun.failure.message, answer.unbegun.exit]
    : answer;

const messageOf = (answer: ReturnType<typeof given>): string =>
  'unbegun' in answer ? answer.unbegun.failure.message : '';

describe('K1: the parameters of a step with a secret', () => {
  it('K2: are those of the stored task, wherever its snapshot would send the secret', () => {
    const forged = http({ params: { url: 'evil', token } });
    const answer = given({ snapshot: { task: forged }, stored: { task: http() } });
    expect(answer).toMatchObject({ ok: true, params: { url: 'good', token }, secrets: ['token'] });
  });

  it('K2: are those of the stored task where it lists sensitive values, which no parameter names', () => {
    const asks = (more: Partial<Task> = {}) =>
      task('http', { params: { url: 'good' }, sensitive: ['iban'], ...more });
    const forged = asks({ params: { url: 'evil' }, sensitive: ['name'] });
    const answer = given({ snapshot: { task: forged }, stored: { task: asks() } });
    const found = { ok: true, params: { url: 'good' }, secrets: [], sensitive: ['iban'] };
    expect(answer).toMatchObject(found);
    expect(
      given({ snapshot: { task: asks({ params: {} }) }, stored: { task: http({ params: {} }) } }),
    ).toMatchObject({ params: {}, secrets: [], sensitive: [] });
    expect(given({ snapshot: { task: asks({ sensitive: [] }) } })).toMatchObject({ sensitive: [] });
    // A task that makes a child job has no plugin that asks.
    const child = asks({ flow: 'g' });
    expect(given({ snapshot: { task: child } })).toMatchObject({ ok: true, sensitive: [] });
    expect(failureOf(given({ stored: { task: undefined }, snapshot: { task: asks() } }))).toEqual([
      'TaskMissing',
      expect.stringContaining('"http"'),
      3,
    ]);
    const evil = given({ stored: { task: asks() }, params: { url: 'evil' } });
    expect(evil).toMatchObject({ unbegun: { failure: { name: 'ParamSealed' } } });
  });

  it('K2: are looked at although there are none, where the task lists sensitive values', () => {
    const told = story({ steps: ['http'], tasks: [task('http', { sensitive: ['iban'] })] });
    told.go();
    expect(told.steps).toMatchObject([{ params: {}, sensitive: ['iban'] }]);
    expect(told.steps[0]).not.toHaveProperty('secrets');
  });

  it('are those of the job where the task leaves them open', () => {
    const open = http({ open: ['body'] });
    expect(
      given({ stored: { task: open }, params: { url: 'good', token, body: 'x' } }),
    ).toMatchObject({
      params: { url: 'good', token, body: 'x' },
      secrets: ['token'],
    });
  });

  it('have no secret where the job sets an open one', () => {
    const open = http({ open: ['token'] });
    expect(given({ stored: { task: open }, params: { url: 'good', token: 'mine' } })).toMatchObject(
      {
        params: { token: 'mine' },
        secrets: [],
      },
    );
  });

  it('have the secrets of jobs that carry encrypted values of earlier releases', () => {
    const old = http({ params: { url: 'good', token: enc } });
    expect(given({ snapshot: { task: old }, stored: { task: http() } })).toMatchObject({
      params: { url: 'good', token },
      secrets: ['token'],
    });
  });

  it.each<[string, string, Case]>([
    [
      'a task under its name',
      inFlow,
      { snapshot: { flow: { ...one(), params: { http: { token: inFlow } } } } },
    ],
    [
      'a step under its label',
      inFlow,
      { snapshot: { flow: { ...one(), params: { 'http-0': { token: inFlow } } } } },
    ],
    ['an entry', inEntry, { snapshot: { flow: one({ params: { token: inEntry } }) } }],
  ])('have a secret that the flow has for %s', (_for, text, more) => {
    const plain = task('http', { params: { url: 'good' } });
    expect(given({ ...more, stored: { task: plain } })).toMatchObject({
      ok: true,
      params: { url: 'good', token: text },
      secrets: ['token'],
    });
  });

  const plain = task('http', { params: { url: 'good' } });
  const secretFlow = one({ params: { token: inEntry } });
  const other = { ...flow([{ task: 'other', params: { token: inEntry } }]) };
  const nested = { ...flow([[{ task: 'http' }]]) };

  it.each<[string, string, Case]>([
    ['sealed parameters that the job sets', 'ParamSealed', { params: { url: 'evil', token } }],
    [
      'sealed parameters that the flow sets',
      'ParamSealed',
      { snapshot: { flow: one({ params: { url: 'evil' } }) } },
    ],
    [
      'sealed parameters that stdio sets, under a name with a space',
      'ParamSealed',
      {
        snapshot: {
          task: task('http', { params: {}, sealed: ['my key'] }),
          flow: one({ stdio: { x: 'my key' } }),
        },
      },
    ],
    [
      'an empty object beside a secret',
      'ParamSealed',
      { params: { url: 'good', token, json: {} } },
    ],
    [
      'an empty object where the task seals a parameter',
      'ParamSealed',
      {
        snapshot: { task: task('http', { params: {}, sealed: ['json'] }) },
        params: { json: {} },
      },
    ],
    [
      'an empty object beside a secret of the flow',
      'ParamSealed',
      {
        snapshot: { flow: secretFlow, task: plain },
        params: { url: 'good', token: inEntry, json: { a: {} } },
      },
    ],
    [
      'sealed parameters that stdio sets',
      'ParamSealed',
      { snapshot: { flow: one({ stdio: { x: 'url' } }) } },
    ],
    [
      'parameters beside a secret of the flow',
      'ParamSealed',
      { snapshot: { flow: secretFlow, task: plain }, params: { url: 'evil', token: inEntry } },
    ],
    [
      'parameters that are sealed by now',
      'ParamSealed',
      {
        snapshot: { task: http({ open: ['url'] }) },
        stored: { task: http() },
        params: { url: 'evil', token },
      },
    ],
    [
      'an encrypted value of the job',
      'SecretMisplaced',
      { stored: { task: task('http') }, params: { x: enc } },
    ],
    [
      'a forged reference',
      'SecretMisplaced',
      { stored: { task: task('http') }, params: { x: token } },
    ],
    [
      'a secret that is gone',
      'SecretGone',
      { snapshot: { task: http() }, stored: { task: plain } },
    ],
    [
      'a task that is gone',
      'SecretGone',
      {
        snapshot: { task: http() },
        stored: { task: undefined },
        world: { task: () => ({ kind: 'absent' }) },
      },
    ],
    ['a task of another owner', 'SecretGone', { stored: { task: http({ owner: 'other' }) } }],
    [
      'a task that belongs to another owner than it did',
      'SecretGone',
      { world: { task: () => ({ kind: 'found', value: http({ owner: 'acme' }) }) } },
    ],
    [
      'a flow that is gone',
      'SecretGone',
      { snapshot: { flow: secretFlow, task: plain }, world: { flow: () => ({ kind: 'absent' }) } },
    ],
    [
      'a flow with another task at that place',
      'SecretGone',
      { snapshot: { flow: secretFlow, task: plain }, stored: { flow: other } },
    ],
    [
      'a flow with a structure at that place',
      'SecretGone',
      { snapshot: { flow: secretFlow, task: plain }, stored: { flow: nested } },
    ],
    [
      'another plugin',
      'SecretPlugin',
      { snapshot: { task: http({ plugin: 'jsonata' }) }, stored: { task: http() } },
    ],
    ['a flow to call', 'SecretForChild', { snapshot: { task: http({ flow: 'child' }) } }],
  ])('are refused with %s', (_with, name, more) => {
    expect(failureOf(given(more))).toEqual([name, expect.any(String), 3]);
  });

  it('name the parameter, the task and the step', () => {
    expect(messageOf(given({ params: { url: 'evil', token } }))).toContain(
      'The parameter url of task "http" is sealed',
    );
    const gone = given({ snapshot: { task: http() }, stored: { task: plain } });
    expect(messageOf(gone)).toContain('parameter token of step http (task "http") is gone');
  });

  it('wait for definitions that are looked for', () => {
    const unknown = () => ({ kind: 'unknown' }) as const;
    expect(given({ world: { task: unknown } })).toMatchObject({
      unknown: { kind: 'look_up', tasks: [{ name: 'http', owner: 'DEFAULT' }] },
    });
    const case_ = { snapshot: { flow: secretFlow, task: plain }, world: { flow: unknown } };
    expect(given(case_)).toMatchObject({
      unknown: { kind: 'look_up', flows: [{ name: 'f', owner: 'DEFAULT' }] },
    });
  });

  it('take what comes into them from the stored flow', () => {
    const mapped = one({ params: { token: inEntry }, stdio: { x: 'body' } });
    const answer = given({ snapshot: { flow: secretFlow, task: plain }, stored: { flow: mapped } });
    expect(answer).toMatchObject({ beginning: { leaf: { entry: { stdio: { x: 'body' } } } } });
  });
});

describe('a handler with a secret', () => {
  const note = (more: Partial<Task> = {}) => task('note', more);
  const text = of({ kind: 'flow', name: 'f', field: 'error.params.token' });
  const handled = flow(['a'], { error: { name: 'note', params: { token: text } } });
  const cancelText = of({ kind: 'flow', name: 'f', field: 'cancel.params.token' });
  const cancelled = flow(['a'], { cancel: { task: 'note', params: { token: cancelText } } });

  function asked(
    defined: Flow & { _rev: string },
    now: Flow,
    phase: 'error' | 'cancel',
    entry: Entry,
  ) {
    const job = liveJob(defined);
    const leaf = {
      path: phase === 'cancel' ? 'cancel' : 'error',
      index: 0,
      name: 'note',
      label: 'note-0',
      entry,
    };
    const known = world({ flows: [now], tasks: [note()] });
    return givenParams(job, { leaf, phase }, note(), known);
  }

  it('has that of the stored flow, of "error" and of "cancel"', () => {
    const error = { task: 'note', params: { token: text } };
    expect(asked(handled, handled, 'error', error)).toMatchObject({ secrets: ['token'] });
    expect(asked(handled, flow(['a'], { error: 'note' }), 'error', error)).toMatchObject({
      ok: false,
    });
    expect(
      asked(
        handled,
        flow(['a'], { error: { name: 'x', params: { token: text } } }),
        'error',
        error,
      ),
    ).toMatchObject({ ok: false });
    const cancel = { task: 'note', params: { token: cancelText } };
    expect(asked(cancelled, flow(['a']), 'cancel', cancel)).toMatchObject({ ok: false });
    const [leaf] = leavesOf(cancelled.cancel as NonNullable<typeof cancelled.cancel>, 'cancel');
    const job = liveJob(cancelled);
    const known = world({ flows: [cancelled], tasks: [note()] });
    const beginning = { leaf: leaf as NonNullable<typeof leaf>, phase: 'cancel' as const };
    expect(givenParams(job, beginning, note(), known)).toMatchObject({ secrets: ['token'] });
  });
});

describe('what a decider begins, with a secret of the flow', () => {
  const plain = task('http', { params: { url: 'good' }, open: ['body'] });
  const withSecret = (tasks: Flow['tasks'][] | readonly unknown[]) => ({
    ...flow(tasks as never),
    params: { http: { token: inFlow } },
  });
  const deciding = withSecret([{ decider: 'chief' }]);

  function activity(entry: Entry, stored: Flow = deciding) {
    const job = liveJob(deciding, { tasks: [plain] });
    const leaf = { path: '0.activity.a', index: 0, name: 'a', label: 'http-0', entry };
    const beginning = { leaf, phase: 'main' } as Parameters<typeof givenParams>[1];
    return givenParams(job, beginning, plain, world({ flows: [stored], tasks: [plain] }));
  }

  it('gets it by its task, beside what is open', () => {
    expect(activity({ task: 'http', params: { body: 'b' }, timeout: 5 })).toMatchObject({
      ok: true,
      params: { url: 'good', token: inFlow, body: 'b' },
      secrets: ['token'],
      beginning: { leaf: { entry: { task: 'http', timeout: 5 } } },
    });
  });

  it.each<[string, string, Entry, Flow]>([
    ['sets what is sealed', 'ParamSealed', { task: 'http', params: { url: 'evil' } }, deciding],
    [
      'names the secret itself',
      'SecretMisplaced',
      { task: 'http', params: { body: token } },
      deciding,
    ],
    ['is of a flow that has no decider now', 'SecretGone', { task: 'http' }, withSecret(['http'])],
    [
      'is of a flow without the place',
      'SecretGone',
      { task: 'http' },
      withSecret([{ parallel: ['http'] }]),
    ],
  ])('is refused where it %s', (_title, name, entry, stored) => {
    expect(failureOf(activity(entry, stored))).toMatchObject([name, expect.anything(), 3]);
  });
});

describe('a notification with a secret', () => {
  const at = (path: string) => of({ kind: 'flow', name: 'f', field: `notify.0.${path}` });
  const hook = { url: 'https://good', secret: at('secret') };
  const tell = { task: 'tell', params: { to: 'x', token: at('params.token') } };
  const entry = { flow: 'f', owner: 'DEFAULT', at: 0 };
  const notifies = { job: 'j', run: 1, status: 'succeeded', depth: 1, entry };

  type Told = { definition?: Task; job?: object; path?: string };

  function told(entry: Entry, notify: unknown, more: Told = {}) {
    const definition = more.definition ?? task(entry.task);
    const inline = { ...flow([entry]), name: '' };
    const job = {
      ...liveJob({ ...flow([entry.task]), tasks: inline.tasks }),
      notifies,
      ...more.job,
    } as LiveJob;
    const { flow_rev: _none, ...live } = job;
    const stored = { ...flow(['a']), notify } as Flow;
    const [leaf] = leavesOf(inline.tasks);
    const at = more.path === undefined ? {} : { path: more.path };
    const beginning = {
      leaf: { ...(leaf as NonNullable<typeof leaf>), ...at },
      phase: 'main' as const,
    };
    return givenParams(
      live,
      beginning,
      definition,
      world({ flows: [stored], tasks: [task('tell')] }),
    );
  }
  const webhook = (params: object): Entry => ({
    task: 'webhook',
    params: params as Record<string, unknown>,
  });

  it('has that of the entry that is stored now', () => {
    expect(told(webhook(hook), [hook])).toMatchObject({ params: hook, secrets: ['secret'] });
    expect(told(tell as Entry, [tell])).toMatchObject({ params: tell.params, secrets: ['token'] });
  });

  it('goes where the stored entry says, by the plugin of webhooks', () => {
    const forged = webhook({ ...hook, url: 'https://evil' });
    expect(told(forged, [hook])).toMatchObject({ params: hook });
    const definition = task('webhook', { plugin: 'jsonata' });
    expect(told(webhook(hook), [hook], { definition })).toMatchObject({
      unbegun: { failure: { name: 'SecretPlugin' } },
    });
  });

  it.each<[string, unknown]>([
    ['is gone', []],
    ['is no entry', ['x']],
    ['is no list', undefined],
    ['is a task without parameters now', [{ task: 'webhook' }]],
    ['has no secret now', [{ url: 'https://good' }]],
  ])('is refused when that entry %s', (_is, notify) => {
    expect(told(webhook(hook), notify)).toMatchObject({
      unbegun: { failure: { name: 'SecretGone' } },
    });
  });

  it.each<[string, object | undefined, Entry, string]>([
    ['an entry of the job itself', undefined, webhook(hook), 'SecretMisplaced'],
    ['an entry of the job itself with a task', undefined, tell, 'SecretMisplaced'],
    ['no position', { ...entry, at: '0' }, webhook(hook), 'SecretMisplaced'],
    ['an entry of another flow', { ...entry, flow: 'g' }, webhook(hook), 'SecretGone'],
    ['an entry of another owner', { ...entry, owner: 'B' }, webhook(hook), 'SecretGone'],
    ['another entry', { ...entry, at: 1 }, webhook(hook), 'SecretGone'],
  ])('is refused where the engine recorded %s', (_what, recorded, written, name) => {
    const { entry: _none, ...others } = notifies;
    const job = { notifies: recorded === undefined ? others : { ...others, entry: recorded } };
    expect(told(written, [hook], { job })).toMatchObject({ unbegun: { failure: { name } } });
  });

  it('is not there for what a decider began', () => {
    const answer = told(webhook(hook), [hook], { path: '0.activity.a' });
    expect(answer).toMatchObject({ unbegun: { failure: { name: 'SecretMisplaced' } } });
  });

  it('is refused when it is made up', () => {
    for (const params of [
      { ...tell.params, x: token },
      { ...tell.params, x: of({ kind: 'flow', name: 'f', field: 'params.x' }) },
      { ...tell.params, x: enc },
    ]) {
      expect(told({ task: 'tell', params }, [tell])).toMatchObject({
        unbegun: { failure: { name: 'SecretGone' } },
      });
    }
  });

  it('is refused in a job that ended without having run the flow it refers to', () => {
    const job = newJob({ notify: [hook], exit: 0, end: t0 });
    const known = world({ children: { 'j:notify:0:0': { kind: 'absent' } } });
    const announced = announce(job, { ...job, state: '$$complete' }, known);
    const [made] = announced.kind === 'announced' ? announced.makes : [];
    const live = { ...made, _rev: '1-made' } as unknown as LiveJob;
    const [leaf] = leavesOf(live.tasks);
    const beginning = { leaf: leaf as NonNullable<typeof leaf>, phase: 'main' as const };
    const stored = { ...flow(['a']), notify: [hook] } as Flow;
    expect(givenParams(live, beginning, task('webhook'), world({ flows: [stored] }))).toMatchObject(
      { unbegun: { failure: { name: 'SecretMisplaced' } } },
    );
  });
});

describe('secrets in filled-in parameters', () => {
  const answer = (params: Record<string, unknown>, secrets: readonly string[]) =>
    ({ ok: true, beginning: { leaf: { name: 's' }, phase: 'main' }, params, secrets }) as never;

  it('are those that nothing was put over', () => {
    expect(secretsOf(answer({ a: token, b: token }, ['a', 'b']), { a: token, b: 'x' })).toEqual({
      secrets: ['a'],
    });
  });

  it('are not handed on by templates, but may be part of a whole', () => {
    const wrong = secretsOf(answer({ a: token, b: '{{params.a}}' }, ['a']), { a: token, b: token });
    expect(wrong).toMatchObject({ failure: { name: 'SecretMisplaced' }, exit: 3 });
    const whole = secretsOf(answer({ b: '{{job.params}}' }, []), { b: { a: [token, enc] } });
    expect(whole).toEqual({ secrets: [] });
    expect(secretsOf(answer({ b: '{{x}}' }, []), { b: enc })).toEqual({ secrets: [] });
  });
});

describe('a job whose task has a secret', () => {
  it('keeps a reference, and its claim says which parameters are secrets', () => {
    const told = story({ steps: ['http'], tasks: [http()], world: {} });
    told.go();
    expect(told.live).toMatchObject({ params: { url: 'good', token }, secrets: ['token'] });
  });

  it('begins when its stored definitions are found', () => {
    const job = { ...liveJob(one(), { tasks: [http()] }) };
    const known = world({ flows: [one()], tasks: [http()], task: () => ({ kind: 'unknown' }) });
    expect(decide(job, t0, known)).toMatchObject({ kind: 'look_up', tasks: [{ name: 'http' }] });
  });

  it.each<[string, string, Record<string, unknown>, Task]>([
    ['a sealed parameter', 'ParamSealed', { 'http-0': { url: 'evil' } }, http()],
    [
      'a sealed parameter of a task without secrets',
      'ParamSealed',
      { http: { url: 'evil' } },
      task('http', { params: { url: 'good' }, sealed: ['url'] }),
    ],
    ['an encrypted value', 'SecretMisplaced', { http: { x: enc } }, task('http')],
  ])('is refused before it begins when it brings %s', (_what, name, params, definition) => {
    const known = world({ flows: [one()], tasks: [definition] });
    expect(initialise(newJob({ params }), t0, known)).toMatchObject({
      job: { state: '$$complete', exit: 3, failure: { name } },
    });
  });

  it('K3: is refused with a structure of its own that sets a sealed parameter', () => {
    const { tasks } = one({ params: { url: 'evil' } });
    const { flow: _none, ...inline } = newJob({ tasks });
    expect(initialise(inline as never, t0, world({ tasks: [http()] }))).toMatchObject({
      job: { exit: 3, failure: { name: 'ParamSealed' } },
    });
  });

  it('may be a copy of one that has ended', () => {
    const params = { 'http-0': { url: 'good', token } };
    const known = world({ flows: [one()], tasks: [http()] });
    expect(initialise(newJob({ params }), t0, known)).toMatchObject({ job: { state: '$$ready' } });
  });

  it('gets a sealed parameter that somebody takes out of the job, without secrets as well', () => {
    const plain = task('http', { params: { url: 'good', body: 'x' }, sealed: ['url'] });
    const told = story({ steps: ['a', 'http'], tasks: [task('a'), plain] });
    told.go();
    told.edit({ params: { 'http-1': { more: 1 } } });
    told.done();
    expect(told.live).toMatchObject({ task: 'http', params: { url: 'good', more: 1 } });
    expect(told.live).not.toHaveProperty('params.body');
  });

  it('K3: ends with exit 3 when somebody edits a sealed parameter, or hands the secret on', () => {
    const told = story({ steps: ['a', 'http'], tasks: [task('a'), http({ open: ['body'] })] });
    told.go();
    told.edit({ params: { 'http-1': { url: 'evil', token } } });
    told.done();
    expect(told.job).toMatchObject({ exit: 3, failure: { name: 'ParamSealed' } });
    const handing = story({
      steps: [{ task: 'http', params: { body: '{{params.token}}' } }],
      tasks: [http({ open: ['body'] })],
    });
    handing.go();
    expect(handing.job).toMatchObject({ exit: 3, failure: { name: 'SecretMisplaced' } });
  });
});

describe('a retry with parameters', () => {
  const definition = task('http', { params: { url: 'good', body: 'x' }, sealed: ['url'] });
  const ended = (steps: Parameters<typeof story>[0]['steps'] = ['http']) => {
    const told = story({ steps, tasks: [definition] });
    told.go();
    told.broke('http');
    return told;
  };

  it.each<[string, Record<string, unknown>]>([
    ['by task', { http: { url: 'evil' } }],
    ['by step', { 'http-0': { url: 'evil' } }],
  ])('is refused when it sets what the task seals: %s', (_what, params) => {
    const told = ended();
    told.edit({ retry: { params } });
    told.go();
    expect(told.job.state).toBe('$$complete');
    const sentence = 'The parameter url of task "http" is sealed';
    expect((told.job as Record<string, unknown>)['retry_refused']).toContain(sentence);
  });

  it.each<[string, Record<string, unknown>]>([
    ['sets another parameter', { params: { http: { body: 'y' } } }],
    ['sets the same value', { params: { http: { url: 'good' } } }],
    ['asks for the definitions of today', { params: { http: { url: 'evil' } }, latest: true }],
  ])('is applied when it %s', (_what, retry) => {
    const told = ended();
    told.edit({ retry });
    told.go();
    expect(told.job).not.toHaveProperty('retry_refused');
    expect(told.job).toMatchObject({ run: 2 });
  });

  it('is refused for a job with a structure of its own, too', () => {
    const { flow_rev: _none, ...own } = ended().job as FinalJob & Record<string, unknown>;
    const params = { http: { url: 'evil' } };
    expect(reopened(own as FinalJob, { params }, t0)).toMatchObject({ kind: 'refused' });
  });

  it('is applied to a job in which somebody edited such a parameter: its steps tell', () => {
    const told = ended();
    told.edit({
      params: { 'http-0': { url: 'evil' } },
      retry: { params: { http: { body: 'y' } } },
    });
    told.go();
    expect(told.job).not.toHaveProperty('retry_refused');
  });
});
