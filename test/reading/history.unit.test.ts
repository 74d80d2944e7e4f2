import { describe, expect, it } from 'vitest';
import { historyOf } from '../../src/reading/history.js';
import type { Job } from '../../src/model/job.js';

const job = (more: object): Job =>
  ({ _id: 'j', _rev: '1-0', type: 'job', state: '$$ready', start: 1, ...more }) as unknown as Job;
const step = (more: object): object => ({ path: '0', name: 'a', attempt: 1, ...more });
const overrode = { state: '$$complete', end: 5, exit: 2, failure: { name: 'E', message: 'No.' } };

describe('historyOf', () => {
  const retried = job({
    params: { 'a-0': { n: 3 }, own: 1 },
    steps: [
      step({ state: '$$error', end: 5, failure: overrode.failure }),
      step({ state: '$$complete', attempt: 2, start: 8, end: 9 }),
    ],
    requests: [
      { action: 'retry', params: { a: { n: 2 } }, params_before: { 'a-0': {} }, overrode, at: 6 },
      { action: 'retry', params_before: { 'a-0': { n: 2 }, own: null }, latest: true, at: 7 },
    ],
    state: '$$complete',
    exit: 0,
    end: 9,
  });

  it('tells the parameters with which the job began, whatever a retry changed', () => {
    const [began] = historyOf(retried);
    expect(began).toMatchObject({ kind: 'JobStarted', data: { params: { 'a-0': {} } } });
    expect(began?.data).not.toHaveProperty('started_by');
    const [first] = historyOf(job({ started_by: { event: 'e' }, schedule: { id: 's' } }));
    expect(first?.data).toMatchObject({ started_by: { event: 'e' }, schedule: { id: 's' } });
    expect(began?.data).not.toHaveProperty('params.own');
  });

  it('tells the end that a retry overrode, and what the retry asked for', () => {
    const kinds = historyOf(retried).map(({ kind }) => kind);
    expect(kinds).toEqual([
      'JobStarted',
      'StepFailed',
      'JobFailed',
      'RequestApplied',
      'RequestApplied',
      'StepStarted',
      'StepCompleted',
      'JobCompleted',
    ]);
    expect(historyOf(retried)[2]).toMatchObject({ at: 5, data: { failure: overrode.failure } });
    expect(historyOf(retried)[3]).toMatchObject({ data: { params: { a: { n: 2 } } } });
    expect(historyOf(retried)[4]).toMatchObject({ data: { latest: true } });
  });

  it('tells when a child whose document was deleted was made again', () => {
    const child = step({ state: '$$complete', child: 'j:0:1', start: 2, remade: 4, end: 6 });
    expect(historyOf(job({ steps: [child] }))).toMatchObject([
      { kind: 'JobStarted' },
      { kind: 'ChildStarted' },
      { kind: 'ChildMadeAgain', at: 4, path: '0', name: 'a' },
      { kind: 'ChildCompleted' },
    ]);
  });

  it('tells a request before what came of it', () => {
    const skipped = job({
      params: 'text',
      steps: [step({ state: '$$skipped', end: 4 })],
      requests: [{ action: 'skip', step: 'a', at: 4 }],
    });
    expect(historyOf(skipped).map(({ kind }) => kind)).toEqual([
      'JobStarted',
      'RequestApplied',
      'StepSkipped',
    ]);
  });
});

describe('the history of documents that somebody edited', () => {
  type Row = readonly [string, object, string, object];
  const rows: readonly Row[] = [
    ['a note without a time', { notes: [{ text: 'look', by: 'ann' }] }, 'NoteAdded', { at: 0 }],
    ...['$$ready', '$$active', '$$waiting'].map((state): Row => [
      `the end of a step in ${state}`,
      { steps: [step({ state, end: 4 })] },
      'StepOpen',
      { at: 4, path: '0' },
    ]),
    [
      'a step without path, name and attempt',
      { steps: [{ state: '$$complete', end: 4 }] },
      'StepCompleted',
      { at: 4, path: '', name: '', attempt: 1 },
    ],
  ];
  it.each(rows)('has %s', (_title, more, kind, expected) => {
    const event = historyOf(job(more)).find((one) => one.kind === kind);
    expect(event).toMatchObject(expected);
  });

  it('has the result of the job, and no data of a signal that brought none', () => {
    const doc = job({ signals: [{ name: 'go', at: 2 }], state: '$$complete', exit: 0, end: 5 });
    const [, signal, end] = historyOf({ ...doc, result: 7 } as unknown as Job);
    expect(signal).not.toHaveProperty('data');
    expect(end?.data).toEqual({ exit: 0, result: 7 });
  });
});

describe('the history of a step whose result was kept', () => {
  it('says from which job and step the result is', () => {
    const cached = { job: 'i', path: '0', at: 1 };
    const used = step({ state: '$$complete', end: 6, result: 7, cached });
    const [, completed] = historyOf(job({ steps: [used] }));
    expect(completed).toMatchObject({ kind: 'StepCompleted', data: { cached, result: 7 } });
  });
});

describe('the history of decisions', () => {
  const decided = (number: number, end: number, result: unknown): object =>
    step({ path: `0.decision.${number}`, state: '$$complete', end, result });
  const begins = [
    { schedule: 'a', id: 'x' },
    { schedule: 'a', id: 'x' },
    { start_child: 'g', id: 'x' },
  ];
  const x = { path: '0.activity.x', name: 'x' };
  type Row = readonly [string, readonly object[], readonly string[]];
  const rows: readonly Row[] = [
    [
      'a second activity of one id, but no child of that id',
      [decided(0, 2, begins)],
      ['DecisionCompleted', 'StartRefused'],
    ],
    [
      'no refused cancel of what still runs',
      [
        decided(0, 2, begins.slice(0, 1)),
        step({ ...x, state: '$$active' }),
        decided(1, 3, { cancel: 'x' }),
      ],
      ['DecisionCompleted', 'DecisionCompleted'],
    ],
    [
      'no refused cancel of what has not begun',
      [decided(0, 2, [...begins.slice(0, 1), { cancel: 'x' }])],
      ['DecisionCompleted'],
    ],
    ['nothing of what is no decision', [decided(0, 2, [{ tell: 'x' }])], ['DecisionCompleted']],
  ];
  it.each(rows)('has %s', (_title, steps, kinds) => {
    const [, ...events] = historyOf(job({ steps }));
    expect(events.map(({ kind }) => kind)).toEqual(kinds);
  });
});

describe('the history of notifications', () => {
  it('has those that were made at the end of a job, after it', () => {
    const notifications = [
      { id: 'j:notify:1:late:0', run: 1, at: 4, event: 'late' },
      { id: 'j:notify:1:0', run: 1, at: 5 },
      'no notification',
    ];
    const job = { _id: 'j', _rev: '3-x', type: 'job', state: '$$complete', exit: 0, end: 5 };
    expect(historyOf({ ...job, notifications } as unknown as Job)).toMatchObject([
      { kind: 'NotificationMade', at: 4, data: { event: 'late' } },
      { kind: 'JobCompleted', at: 5 },
      { kind: 'NotificationMade', at: 5, name: 'j:notify:1:0' },
    ]);
  });

  it('has of a notification when the end of its subject was found', () => {
    const notifies = { job: 's', run: 1, status: 'failed', depth: 1, since: 7 };
    const job = { _id: 'n', _rev: '1-x', type: 'job', flow: 'f', notifies };
    expect(historyOf(job as unknown as Job)).toMatchObject([
      { kind: 'SubjectEnded', at: 7, name: 's' },
    ]);
  });
});
