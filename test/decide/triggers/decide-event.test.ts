import { describe, expect, it } from 'vitest';
import {
  decideEvent,
  listeningFlow,
  triggeredJobId,
  type EventIntent,
  type EventWorld,
  type ListeningFlow,
  type StoredEvent,
} from '../../../src/decide/triggers/decide-event.js';
import type { Answer } from '../../../src/decide/world.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { parseDocument } from '../../../src/reading/parse.js';
import { readOn, type Triggered } from '../../../src/model/trigger.js';

const id = 'event:paid:7';
const announced = (more: object = {}): StoredEvent => ({
  ...{ _id: id, _rev: '1-a', type: 'event', event: 'paid', key: '7', data: { sum: 3 } },
  ...more,
});

const flowDoc = (on: unknown, more: object = {}): StoredDocument => ({
  ...{ _id: 'flow:me:f', _rev: '1-f', type: 'flow', name: 'f', owner: 'me', tasks: ['t'], on },
  ...more,
});

const hash = (text: string): string => `<${text.replaceAll('\n', ' ')}>`;
const jobId = (entry = 0): string =>
  triggeredJobId({ flow: 'f', owner: 'me', event: id, entry }, { hash });

const listening = (docs: readonly StoredDocument[]): readonly ListeningFlow[] =>
  docs.flatMap((doc) => listeningFlow(doc, parseDocument(doc)) ?? []);

const worldOf = (more: Partial<EventWorld> = {}): EventWorld => ({
  flows: undefined,
  refusal: undefined,
  answer: () => undefined,
  made: () => undefined,
  hash,
  ...more,
});

const right = (value: unknown): Answer => ({ ok: true, value });

/** What the event says after the first write, given these answers to expressions. */
function decidedFor(
  docs: readonly StoredDocument[],
  answers: Record<string, Answer> = {},
  more: Partial<EventWorld> = {},
) {
  const flows = listening(docs);
  const world = worldOf({
    flows,
    ...more,
    answer: (question) => answers[question.split(' ').at(-1) ?? ''],
  });
  const intent = decideEvent(announced(), 5, world);
  return intent.kind === 'write' ? (intent.event.triggered as Triggered) : intent;
}

const starting = (more: object = {}) => ({
  ...{ job: jobId(), flow: 'f', owner: 'me', entry: 0 },
  ...more,
});

describe('an announced event', () => {
  it('T23: asks first which flows it starts', () => {
    expect(decideEvent(announced(), 5, worldOf())).toEqual({ kind: 'look_up', event: 'paid' });
  });

  it.each<[string, unknown, Record<string, Answer>, object]>([
    ['starts a job', { event: 'paid' }, {}, { starting: [starting()] }],
    ['starts one for its key', [{ event: 'paid', key: '7' }], {}, { starting: [starting()] }],
    ['starts none for another key', { event: 'paid', key: '8' }, {}, {}],
    ['starts none for another type', { event: 'sent' }, {}, {}],
    [
      'starts one for each entry',
      [{ event: 'paid' }, { event: 'sent' }, { event: 'paid', key: '7' }],
      {},
      { starting: [starting(), starting({ job: jobId(2), entry: 2 })] },
    ],
    [
      'starts one that matches',
      { event: 'paid', match: 'm' },
      { match: right(true) },
      { starting: [starting()] },
    ],
    ['starts none that does not', { event: 'paid', match: 'm' }, { match: right(false) }, {}],
    [
      'starts none where the path is missing',
      { event: 'paid', match: 'm' },
      { match: right(undefined) },
      {},
    ],
    [
      'starts none where the path is null',
      { event: 'paid', match: 'm' },
      { match: right(null) },
      {},
    ],
    [
      'fills in parameters',
      { event: 'paid', match: 'm', params: 'p' },
      { match: right(true), params: right({ a: 1 }) },
      { starting: [starting({ params: { a: 1 } })] },
    ],
    [
      'T24: tells a match that is neither',
      { event: 'paid', match: 'm' },
      { match: right('yes') },
      { starting: [starting({ problem: 'on[0].match gives neither true nor false.' })] },
    ],
    [
      'T24: tells a match that throws',
      { event: 'paid', match: 'm' },
      { match: { ok: false, reason: 'no.' } },
      { starting: [starting({ problem: 'on[0].match cannot be evaluated: no.' })] },
    ],
    [
      'T24: tells parameters that throw',
      { event: 'paid', params: 'p' },
      { params: { ok: false, reason: 'no.' } },
      { starting: [starting({ problem: 'on[0].params cannot be evaluated: no.' })] },
    ],
    [
      'T24: tells parameters that are none',
      { event: 'paid', params: 'p' },
      { params: right([1]) },
      { starting: [starting({ problem: 'on[0].params gives no object of parameters.' })] },
    ],
    [
      'T24: tells an `on` that cannot be read',
      [{ event: 'paid', wen: 'x' }],
      {},
      {
        refused: [
          {
            flow: 'f::me',
            because: 'on[0].wen must be left out: there can be only event, key, match, params.',
          },
        ],
      },
    ],
  ])('%s', (_title, on, answers, expected) => {
    expect(decidedFor([flowDoc(on)], answers)).toEqual({ at: 5, ...expected });
  });

  it('asks for the answers to its expressions, with what they see', () => {
    const seen = { event: { id, type: 'paid', key: '7', data: { sum: 3 } } };
    const question = (what: string) => ({
      kind: 'evaluate',
      questions: [{ id: `flow:me:f 0 ${what}`, expression: what, context: seen }],
    });
    const flows = [flowDoc({ event: 'paid', match: 'match', params: 'params' })];
    expect(decidedFor(flows)).toEqual(question('match'));
    expect(decidedFor(flows, { match: right(true) })).toEqual(question('params'));
    const world = worldOf({ flows: listening(flows) });
    const bare = decideEvent({ ...announced(), key: undefined } as never, 5, world);
    expect(bare).toMatchObject({ questions: [{ context: { event: { key: '' } } }] });
  });

  it.each<[string, object, object]>([
    ['disabled', { enabled: false }, { because: 'The flow is disabled ("enabled": false).' }],
    [
      'not valid',
      { timeout: 'x' },
      { because: expect.stringContaining('The flow is not valid: timeout must be') as string },
    ],
    [
      'without a name',
      { name: undefined },
      { flow: 'flow:me:f', because: 'The flow is not valid: name is missing.' },
    ],
  ])('T24: lists a flow that is %s', (_title, more, refused) => {
    const found = decidedFor([flowDoc({ event: 'paid' }, more)]);
    expect(found).toEqual({ at: 5, refused: [{ flow: 'f::me', ...refused }] });
  });

  it('starts one job for several documents of one flow, and none for what is no flow', () => {
    const same = flowDoc({ event: 'paid' }, { _id: 'other' });
    const flows = [flowDoc({ event: 'paid' }), same, { ...same, type: 'task' }];
    expect(decidedFor(flows)).toEqual({ at: 5, starting: [starting()] });
  });
});

it('T24: an event that cannot be stored with its jobs starts none, and says why', () => {
  const flows = [
    flowDoc([{ event: 'paid' }, { event: 'paid', key: '7' }]),
    flowDoc({ event: 'paid' }, { _id: 'flow:me:g', name: 'g' }),
    flowDoc({ event: 'paid' }, { _id: 'flow:me:h', name: 'h', enabled: false }),
  ];
  const because = 'The event cannot be stored with the jobs that it starts: too long';
  expect(decidedFor(flows, {}, { refusal: 'too long' })).toEqual({
    at: 5,
    refused: [
      { flow: 'h::me', because: 'The flow is disabled ("enabled": false).' },
      { flow: 'f::me', because },
      { flow: 'g::me', because },
    ],
  });
});

it('T22: jobs of names and ids that look alike when joined have ids of their own', () => {
  const plain = { hash: (text: string) => text };
  const named = { flow: 'a', owner: 'b:c', event: 'e', entry: 1 };
  const others = [
    { ...named, flow: 'a:b', owner: 'c' },
    { ...named, event: 'e\n1', entry: 0 },
  ];
  const ids = [named, ...others].map((one) => triggeredJobId(one, plain));
  expect(new Set(ids).size).toBe(3);
});

describe('an event whose jobs are decided', () => {
  const decided = announced({
    triggered: {
      at: 5,
      starting: [
        starting({ params: { a: 1 } }),
        starting({ job: jobId(1), entry: 1, problem: 'no' }),
      ],
    },
  });

  it('T21, T22: makes them from what it holds', () => {
    expect(decideEvent(decided, 6, worldOf())).toEqual({
      kind: 'make',
      jobs: [
        {
          ...{ _id: jobId(), type: 'job', flow: 'f', owner: 'me', params: { a: 1 } },
          started_by: { event: id, entry: 0 },
        },
        {
          ...{ _id: jobId(1), type: 'job', flow: 'f', owner: 'me' },
          started_by: { event: id, entry: 1, problem: 'no' },
        },
      ],
    });
  });

  it.each<[string, EventWorld['made'], object]>([
    ['that they are made', () => ({ kind: 'made' }), { started: [jobId(), jobId(1)] }],
    [
      'which the store refuses',
      (job) => (job === jobId() ? { kind: 'made' } : { kind: 'refused', reason: 'too long' }),
      {
        started: [jobId()],
        refused: [{ flow: 'f::me', job: jobId(1), because: 'too long' }],
      },
    ],
    [
      'that it refuses all',
      () => ({ kind: 'refused', reason: 'no' }),
      {
        refused: [
          { flow: 'f::me', job: jobId(), because: 'no' },
          { flow: 'f::me', job: jobId(1), because: 'no' },
        ],
      },
    ],
  ])('T21: keeps %s', (_title, made, expected) => {
    const intent = decideEvent(decided, 6, worldOf({ made })) as EventIntent & { kind: 'write' };
    expect(intent.event.triggered).toEqual({ at: 5, ...expected });
  });

  it.each([
    ['has none', { at: 5 }, 'All its jobs are made.'],
    ['is no record', { at: 'x' }, 'Its "triggered" cannot be read.'],
  ])('T23: starts nothing more when it %s', (_title, triggered, because) => {
    const flows = [flowDoc({ event: 'paid' })];
    const intent = decideEvent(announced({ triggered }), 9, worldOf({ flows: listening(flows) }));
    expect(intent).toEqual({ kind: 'rest', because });
  });
});

describe('readOn', () => {
  it.each<[unknown, string]>([
    ['paid', 'on must be {event, key, match, params}, or a list of such objects'],
    [[{}], 'on[0].event is missing.'],
    [{ event: 'a', key: 1 }, 'on.key must be a string'],
    [{ event: 'a', params: {} }, 'on.params must be a JSONata expression'],
    [Array.from({ length: 101 }, () => ({ event: 'a' })), 'on must be a list of at most 100'],
  ])('says what is wrong: %#', (on, problem) => {
    expect(readOn(on).problems[0]?.message).toContain(problem);
    expect(readOn(on).triggers).toEqual([]);
  });

  it('reads nothing where there is none', () => {
    expect(readOn(undefined)).toEqual({ triggers: [], problems: [] });
  });
});
