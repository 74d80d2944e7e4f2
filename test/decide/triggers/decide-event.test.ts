import { describe, expect, it } from 'vitest';
import {
  decideEvent,
  listeningFlow,
  triggeredJobId,
  type EventIntent,
  type EventWorld,
  type ListeningFlow,
} from '../../../src/decide/triggers/decide-event.js';
import type { StoredEvent } from '../../../src/decide/triggers/events.js';
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
  usualTtlMs: undefined,
  answer: () => undefined,
  made: () => undefined,
  joined: () => undefined,
  hash,
  ...more,
});

const right = (value: unknown): Answer => ({ ok: true, value });

const versionsOf = (docs: readonly StoredDocument[]): readonly (string | undefined)[] =>
  docs.flatMap((doc) => {
    const found = listeningFlow(doc, parseDocument(doc), docs);
    return found === undefined ? [] : [found.problem ?? found.id];
  });

// Shows A-09.
it('starts jobs of the current version of a flow alone', () => {
  const one = flowDoc({ event: 'paid' }, { _id: 'one', version: '1' });
  const two = flowDoc({ event: 'paid' }, { _id: 'two', version: '2' });
  expect(versionsOf([one, { ...two, current: true }])).toEqual(['two']);
  const none =
    'The flow has several versions and none of them is current; set "current": true in one of one, two.';
  expect(versionsOf([one, two])).toEqual([none, none]);
});

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
            because:
              'on[0].wen must be left out: there can be only event, key, match, params, debounce, batch.',
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
      'deprecated',
      { deprecated: true },
      { because: 'The flow is deprecated and takes no new jobs.' },
    ],
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

  // Shows X-14.
  it.each<[string, object, number | undefined, number | undefined]>([
    ['what it says itself', { ttl: 'PT1M' }, 5_000, 60_000],
    ['what the setting says', {}, 5_000, 5_000],
    ['for ever without either', {}, undefined, undefined],
    ['for ever where it says 0', { ttl: 0 }, 5_000, undefined],
  ])('T39: lives as long as %s', (_title, more, usualTtlMs, ms) => {
    const event = { _id: 'e', _rev: '1', type: 'event', event: 'paid', ...more } as StoredEvent;
    const intent = decideEvent(event, 1_000, worldOf({ flows: [], usualTtlMs }));
    const until = ms === undefined ? {} : { until: 1_000 + ms };
    expect(intent).toMatchObject({ kind: 'write', event: { triggered: { at: 1_000, ...until } } });
    expect('until' in ((intent as { event: StoredEvent }).event.triggered as object)).toBe(
      ms !== undefined,
    );
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

describe('an event that is gathered', () => {
  const into = (key: string, by = 'batch', entry = 0): string =>
    `gathering:f:me:<["f","me",${entry},"${by}",${JSON.stringify(key)}]>`;
  const batch = { size: 3, period: 'PT1M' };
  const rule = { flow: 'f', owner: 'me', entry: 0, by: 'batch', period: 60_000, size: 3 };

  it.each<[string, unknown, Record<string, Answer>, object]>([
    ['for a batch', { batch }, {}, { into: into(''), ...rule }],
    [
      'for a batch with parameters, which are asked for later',
      { batch, params: 'p' },
      {},
      { into: into(''), ...rule, params: 'p' },
    ],
    [
      'for a batch of its key',
      { batch: { ...batch, key: 'k' } },
      { key: right('c') },
      { into: into('"c"'), ...rule, key: '"c"' },
    ],
    [
      'for a batch where the key is missing',
      { batch: { ...batch, key: 'k' } },
      { key: right(undefined) },
      { into: into('null'), ...rule, key: 'null' },
    ],
    [
      'for a batch of a long key',
      { batch: { ...batch, key: 'k' } },
      { key: right('c'.repeat(300)) },
      { into: into(`"${'c'.repeat(300)}"`), ...rule, key: `<"${'c'.repeat(300)}">` },
    ],
    [
      'until no other one follows',
      { debounce: { period: 1_000 }, match: 'm' },
      { match: right(true) },
      { into: into('', 'debounce'), ...rule, by: 'debounce', period: 1_000, size: 1_000 },
    ],
    [
      'until no other one follows, but not for ever',
      { debounce: { period: 1_000, max: 'PT5S' } },
      {},
      {
        ...{ into: into('', 'debounce'), ...rule },
        ...{ by: 'debounce', period: 1_000, max: 5_000, size: 1_000 },
      },
    ],
  ])('T31: waits %s', (_title, more, answers, expected) => {
    const on = { event: 'paid', ...(more as object) };
    expect(decidedFor([flowDoc(on)], answers)).toEqual({ at: 5, gathering: [expected] });
  });

  it('T24: tells a key that throws, or gatherings that it cannot be stored with', () => {
    const wrong = { key: { ok: false, reason: 'no.' } } as const;
    for (const kind of ['batch', 'debounce']) {
      const gathers = kind === 'batch' ? { ...batch, key: 'k' } : { period: 1_000, key: 'k' };
      const on = { event: 'paid', [kind]: gathers };
      expect(decidedFor([flowDoc(on)], wrong)).toEqual({
        at: 5,
        starting: [starting({ problem: `on[0].${kind}.key cannot be evaluated: no.` })],
      });
      expect(decidedFor([flowDoc(on)])).toMatchObject({ kind: 'evaluate' });
    }
    const refused = decidedFor([flowDoc({ event: 'paid', batch })], {}, { refusal: 'too long' });
    expect(refused).toMatchObject({ at: 5, refused: [{ flow: 'f::me' }] });
  });

  const joining = { into: into(''), ...rule };
  const open = (more: object = {}) =>
    announced({ triggered: { at: 5, gathering: [joining], ...more } });

  it('T31: joins, and then says where it is', () => {
    const join = { kind: 'join', gatherings: [joining], at: 5 };
    expect(decideEvent(open(), 6, worldOf())).toEqual(join);
    const full = worldOf({ joined: () => ({ kind: 'full' }) });
    expect(decideEvent(open(), 6, full)).toEqual({ kind: 'wait', until: 1_006 });
    const made = { kind: 'made' } as const;
    const world = worldOf({ joined: () => made, made: () => made });
    const intent = decideEvent(open({ starting: [starting()], started: ['i'] }), 6, world);
    expect((intent as { readonly event: StoredEvent }).event.triggered).toEqual({
      at: 5,
      gathered: [joining],
      started: ['i', jobId()],
    });
  });

  it('T24: is refused by what is no gathering', () => {
    const world = worldOf({ joined: () => ({ kind: 'refused', reason: 'no' }) });
    const intent = decideEvent(open(), 6, world);
    expect((intent as { readonly event: StoredEvent }).event.triggered).toEqual({
      at: 5,
      refused: [{ flow: 'f::me', because: 'no' }],
    });
  });
});

describe('readOn', () => {
  const gathers = (more: object): unknown => ({ event: 'a', ...more });
  const span = 'must be a duration in whole seconds: milliseconds';
  it.each<[unknown, string]>([
    [gathers({ batch: {} }), 'on.batch.size is missing'],
    [gathers({ batch: { size: 3 } }), 'on.batch.period is missing'],
    [gathers({ batch: { size: 0, period: 1_000 } }), 'on.batch.size must be a number of events'],
    [gathers({ batch: { size: 1_001, period: 1_000 } }), 'a whole number from 1 to 1000'],
    [gathers({ batch: { size: 1, period: 'soon' } }), `on.batch.period ${span}`],
    [gathers({ batch: { size: 1, period: 0 } }), 'on.batch.period must be longer than 0'],
    [gathers({ batch: { size: 1, period: 1_000, max: 1 } }), 'on.batch.max must be left out'],
    [gathers({ batch: 5 }), 'on.batch must be {size, period, key}'],
    [gathers({ debounce: {} }), 'on.debounce.period is missing'],
    [gathers({ debounce: { period: 1_500 } }), `on.debounce.period ${span}`],
    [gathers({ debounce: { period: 1_000, key: 1 } }), 'on.debounce.key must be a JSONata'],
    [
      gathers({ debounce: { period: 'PT5S', max: 4_000 } }),
      'on.debounce.max must not be shorter than "period"',
    ],
    [gathers({ debounce: { period: 1_000, size: 3 } }), 'on.debounce.size must be left out'],
    [gathers({ debounce: 'PT1S' }), 'on.debounce must be {period, key, max}'],
    [
      [{ event: 'a', debounce: { period: 1_000 }, batch: { size: 1, period: 1_000 } }],
      'on[0].batch must be left out beside "debounce": a trigger can have only one of them.',
    ],
    ['paid', 'on must be {event, key, match, params, debounce, batch}, or a list of such objects'],
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
