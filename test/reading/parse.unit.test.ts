import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/reading/parse.js';
import { document } from '../model/arbitraries.js';

type Fields = Readonly<Record<string, unknown>>;

describe('parseDocument', () => {
  // Shows.
  it.each<[string, Fields]>([
    ['a task of nothing but a name', { type: 'task', name: 'a' }],
    ['a task with a name in any script', { type: 'task', name: 'Größe 数 🙂 constructor' }],
    ['a flow without steps', { type: 'flow', name: 'f', owner: 'o', tasks: [] }],
    ['a flow without limits', { type: 'flow', name: 'f', owner: 'o', tasks: ['a'], timeout: 0 }],
    ['a job with a structure of its own', { type: 'job', tasks: ['a', ['b']] }],
    ['a job that is cancelled before it began', { type: 'job', flow: 'f', cancel: true }],
    [
      'a job to be started later',
      { type: 'job', flow: 'f', exec_after: '2026-01-01T10:00:00+02:00' },
    ],
    ['any final job', { type: 'job', state: '$$complete', steps: 5, exit: null }],
    ['a request', { type: 'request', job: 'j', action: 'pause' }],
    ['a signal', { type: 'signal', job: 'j', name: 'go' }],
    ['an event', { type: 'event', event: 'payment' }],
    ['a control of a queue', { type: 'queue-control', queue: 'mail', paused: true }],
    [
      'an engine',
      {
        ...{ _id: 'engine:1', type: 'engine', host: 'h', pid: 1, version: '1', plugins: [] },
        ...{ labels: [], slots: 1, started: 1, beat: 1, state: 'running' },
      },
    ],
    [
      'a lock',
      {
        ...{ _id: 'lock:1', type: 'lock', kind: 'target', key: 't', job: 'j', at: 1 },
        ...{ nonce: 'n' },
      },
    ],
  ])('accepts %s', (_title, doc) => {
    expect(parseDocument({ _id: 'x', _rev: '1-a', ...doc })).toMatchObject({ ok: true });
  });

  it.each([undefined, null, 5, 'job ', 'Task', 'signals'])(
    'leaves alone a document of type %j',
    (type) => {
      expect(parseDocument({ _id: 'x', _rev: '1-a', type })).toEqual({ kind: 'other' });
    },
  );

  it('keeps keys that it does not know', () => {
    const doc = { ...document.flow, colour: 'red', tasks: [{ task: 'a', note: { deep: [1] } }] };
    expect(parseDocument(doc)).toMatchObject({
      value: { colour: 'red', tasks: { sequence: [{ task: 'a', note: { deep: [1] } }] } },
    });
  });

  it('reports every mistake, each place once', () => {
    const parsed = parseDocument({
      ...document.flow,
      tasks: [null, 5],
      timeout: 1e300,
      enabled: 1,
    });
    expect('problems' in parsed && parsed.problems.map(({ path }) => path)).toEqual([
      'tasks[0]',
      'tasks[1]',
      'timeout',
      'enabled',
    ]);
  });

  it('refuses a reference to a secret in a definition', () => {
    const params = { token: 'tws:secret:task:DEFAULT:pick:params.token' };
    expect(parseDocument({ ...document.task, params })).toMatchObject({
      ok: false,
      problems: [{ path: 'params.token' }],
    });
  });

  it('refuses a job that is wrong beside its notifications', () => {
    expect(parseDocument({ ...document.job, notify: 7, flow: 5 })).toMatchObject({
      ok: false,
      problems: [{ path: 'flow' }],
    });
  });

  it('refuses a step of a run that the job has not begun', () => {
    const [step] = document.live.steps;
    expect(parseDocument({ ...document.live, steps: [{ ...step, run: 2 }] })).toMatchObject({
      ok: false,
      problems: [{ path: 'run' }],
    });
  });

  it('reads a long list in an object of the job in pieces', () => {
    const [step] = document.live.steps;
    const before = Array.from({ length: 2_000 }, () => step);
    const slice = { path: '0', total: 2, before };
    expect(parseDocument({ ...document.live, slice })).toMatchObject({ ok: true });
  });

  it('refuses what is nested too deep to be walked, unless the job is final', () => {
    let deep: unknown = 'a';
    for (let i = 0; i < 20_000; i += 1) deep = [deep];
    const message = 'tasks is nested deeper than 200 levels.';
    const problems = [{ path: 'tasks', message }];
    expect(parseDocument({ ...document.flow, tasks: deep })).toEqual({
      kind: 'flow',
      ok: false,
      problems,
    });
    expect(parseDocument({ ...document.job, state: '$$complete', result: deep })).toMatchObject({
      ok: true,
    });
  });

  it('reads a live job whose snapshot was edited into another form', () => {
    const { flow_definition, ...rest } = document.live;
    const doc = {
      ...rest,
      flow_definition: { ...flow_definition, error: 'sweep', cancel: ['sweep'] },
    };
    expect(parseDocument(doc)).toMatchObject({
      value: {
        flow_definition: {
          error: { name: 'sweep' },
          cancel: { structure: 'sequence', sequence: [{ task: 'sweep' }] },
        },
      },
    });
  });

  it.each<[string, object, string | undefined]>([
    ['a task that lists it', { type: 'task', sensitive: ['iban'] }, undefined],
    [
      'a task that does not',
      { type: 'task' },
      'params.to names the sensitive value "iban", which "sensitive" of the task does not list.',
    ],
    [
      'a flow',
      { type: 'flow', owner: 'me', tasks: ['a'], sensitive: ['iban'] },
      'params.to names the sensitive value "iban", which a flow must not: put it into the task that needs it.',
    ],
  ])('reads a sensitive value in %s', (_where, doc, message) => {
    const params = { to: { $sensitive: 'iban' } };
    const read = parseDocument({ name: 'pay', params, ...doc, _id: 'x', _rev: '1-a' });
    const problems = message === undefined ? undefined : [{ path: 'params.to', message }];
    expect('problems' in read ? read.problems : undefined).toEqual(problems);
    const text = { params: { to: 'to {{$sensitive.iban}}' } };
    const inText = parseDocument({ name: 'pay', ...doc, ...text, _id: 'x', _rev: '1-a' });
    expect('problems' in inText ? inText.problems : undefined).toEqual(problems);
  });

  it('refuses a template that reads a sensitive value without a name', () => {
    const task = { type: 'task', name: 'pay', sensitive: ['iban'], _id: 'x', _rev: '1-a' };
    const read = parseDocument({
      ...task,
      params: { to: '{{json $sensitive}} {{$sensitive.iban}}' },
    });
    const message =
      'params.to must name a sensitive value in each tag that reads one, as {{$sensitive.name}}.';
    expect(read).toMatchObject({ ok: false, problems: [{ path: 'params.to', message }] });
  });
});
