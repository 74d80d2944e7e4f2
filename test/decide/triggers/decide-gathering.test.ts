import { describe, expect, it } from 'vitest';
import {
  decideGathering,
  gatheredJobId,
  type GatheringWorld,
} from '../../../src/decide/triggers/decide-gathering.js';
import type { StoredEvent } from '../../../src/decide/triggers/events.js';
import {
  gatheringDue,
  mergedGathering,
  nextMembers,
  withJoiners,
} from '../../../src/decide/triggers/gathered-events.js';
import {
  gatheredAnew,
  mergedEvent,
  withItsJob,
} from '../../../src/decide/triggers/joined-event.js';
import { readGathering, type Gathering, type Joining } from '../../../src/model/gathering.js';
import type { StoredDocument } from '../../../src/model/document.js';

const into = 'gathering:f:me:x';
const rule = { flow: 'f', owner: 'me', entry: 0, by: 'batch', period: 100, size: 3 } as const;
const at = (...times: readonly number[]) => times.map((time) => ({ id: `e${time}`, at: time }));

const gathering = (more: object = {}): Gathering => ({
  ...{ _id: into, _rev: '1-g', type: 'gathering', ...rule, events: at(10, 20) },
  ...more,
});

const event = (id: string, triggered: unknown = { at: 1, gathered: [{ into, ...rule }] }) =>
  ({
    ...{ _id: id, _rev: '1-e', type: 'event', event: 'paid', key: id, data: id.length },
    triggered,
  }) as StoredEvent;

const hash = (text: string): string => `<${text}>`;
const jobId = gatheredJobId({ _id: into, flow: 'f', owner: 'me' }, at(10, 20), { hash });
const worldOf = (more: Partial<GatheringWorld> = {}): GatheringWorld => ({
  event: (id) => event(id),
  answer: () => undefined,
  made: () => undefined,
  settled: () => false,
  refusal: undefined,
  graceMs: undefined,
  isConfirmed: true,
  hash,
  ...more,
});

describe('when the job of gathered events is due', () => {
  const debounce = { by: 'debounce', size: 1_000 };
  it.each<[string, object, number | undefined]>([
    ['batch: period after the first', {}, 110],
    ['batch: at once when it is full', { size: 2 }, 20],
    ['batch: the same, with more than enough', { size: 2, events: at(30, 10, 20) }, 20],
    ['debounce: period after the last', debounce, 120],
    ['debounce: at the latest max after the first', { ...debounce, max: 105 }, 115],
    ['debounce: when it is full', { ...debounce, size: 2 }, 20],
    ['never without events', { events: [] }, undefined],
  ])('T34: %s', (_title, more, due) => {
    expect(gatheringDue(gathering(more))).toBe(due);
  });

  it('T34: takes the earliest events, of one time by their ids, and not too many characters', () => {
    const events = [...at(30), ...['b', 'a', 'c'].map((id) => ({ id, at: 10 }))];
    const members = nextMembers(gathering({ events, size: 3 }));
    expect(members.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    const long = [1, 2, 3].map((time) => ({ id: String(time).repeat(40_000), at: time }));
    const full = gathering({ events: long });
    expect(nextMembers(full)).toEqual(long.slice(0, 1));
    expect(gatheringDue(full)).toBe(1);
    const first = { id: 'x'.repeat(70_000), at: 0 };
    expect(nextMembers(gathering({ events: [first] }))).toEqual([first]);
  });
});

describe('gathered events', () => {
  const decide = (more: object, now: number, world: Partial<GatheringWorld> = {}) =>
    decideGathering(gathering(more), now, worldOf(world));
  const starting = { job: jobId, at: 110, events: at(10, 20) };

  it('T34: wait until their job is due', () => {
    expect(decide({ next_due: 110 }, 109)).toEqual({ kind: 'wait', until: 110 });
  });

  it('are listed by when they are due, also where somebody has edited that', () => {
    for (const edited of [{}, { next_due: 9_999 }]) {
      const next = { kind: 'write', gathering: gathering({ next_due: 110 }) };
      expect(decide(edited, 109)).toMatchObject(next);
    }
  });

  it('are removed when there are none', () => {
    expect(decide({ events: [] }, 1)).toEqual({ kind: 'remove' });
  });

  it('T33: are read first, and those that wait no more are left out', () => {
    const unread = decide({}, 110, { event: () => undefined });
    expect(unread).toEqual({ kind: 'look_up', events: ['e10', 'e20'] });
    const others: readonly (StoredEvent | null)[] = [
      null,
      { ...event('e10'), triggered: undefined },
      event('e10', { at: 1, started: ['other'] }),
      event('e10', { at: 'x' }),
      event('e10', { at: 1, gathered: [{ ...rule, into: 'another' }] }),
    ];
    for (const other of others) {
      const left = decide({}, 110, { event: (id) => (id === 'e10' ? other : event(id)) });
      const next = { ...gathering({ events: at(20) }), next_due: 120 };
      expect(left).toMatchObject({ kind: 'write', gathering: next });
      expect(decide({}, 110, { event: () => other })).toEqual({ kind: 'remove' });
    }
  });

  it('T32: start one job, decided by one write; later events stay', () => {
    expect(decide({}, 110)).toEqual({
      kind: 'write',
      gathering: gathering({ events: [], starting }),
      because: 'Its events start a job.',
    });
    const more = decide({ events: at(40, 30, 20, 10) }, 110);
    expect(more).toMatchObject({
      gathering: { starting: { events: at(10, 20, 30) }, events: at(40), next_due: 140 },
    });
  });

  it.each<[string, Partial<GatheringWorld>, object]>([
    ['parameters', { answer: () => ({ ok: true, value: { a: 1 } }) }, { params: { a: 1 } }],
    [
      'none that are no object',
      { answer: () => ({ ok: true, value: 7 }) },
      { problem: 'on[0].params gives no object of parameters.' },
    ],
    [
      'none where the expression throws',
      { answer: () => ({ ok: false, reason: 'no.' }) },
      { problem: 'on[0].params cannot be evaluated: no.' },
    ],
    [
      'none that cannot be stored',
      { refusal: 'too long' },
      { problem: 'The parameters of the job cannot be stored: too long' },
    ],
  ])('T32: give their job %s', (_title, world, expected) => {
    const written = decide({ params: 'p' }, 110, world);
    expect(written).toMatchObject({ gathering: { starting: { ...starting, ...expected } } });
  });

  it('ask for the parameters with all events, and the last one', () => {
    const seen = ['e10', 'e20'].map((id) => ({ id, type: 'paid', key: id, data: 3 }));
    const context = { event: seen[1], events: seen };
    expect(decide({ params: 'p' }, 110)).toEqual({
      kind: 'evaluate',
      questions: [{ id: `${into} params`, expression: 'p', context }],
    });
  });

  it('T35: make the job from what is decided', () => {
    const job = { _id: jobId, type: 'job', flow: 'f', owner: 'me' };
    const by = { gathering: into, entry: 0, events: ['e10', 'e20'] };
    expect(decide({ starting }, 1)).toEqual({ kind: 'make', job: { ...job, started_by: by } });
    const full = { key: '"k"', starting: { ...starting, params: { a: 1 }, problem: 'no' } };
    const started_by = { ...by, key: '"k"', problem: 'no' };
    expect(decide(full, 1)).toEqual({
      kind: 'make',
      job: { ...job, params: { a: 1 }, started_by },
    });
    const other = { _id: 'gathering:f:me:y', flow: 'f', owner: 'me' };
    expect(gatheredJobId(other, at(10, 20), { hash })).not.toBe(jobId);
    // An event that was deleted and announced again may come with others: they need a job of their own.
    const gatheringOf = { ...other, _id: into };
    const again = { id: 'e10', at: 11 };
    for (const events of [at(10), at(10, 30), [again, ...at(20)]])
      expect(gatheredJobId(gatheringOf, events, { hash })).not.toBe(jobId);
  });

  it('T31, T32: tell their events of the job, then begin anew', () => {
    const made = { kind: 'made' } as const;
    const world = { made: () => made };
    expect(decide({ starting }, 1, world)).toEqual({ kind: 'settle', starting, made });
    const settled = { ...world, settled: (job: string) => job === jobId };
    expect(decide({ starting, events: [] }, 1, settled)).toEqual({ kind: 'remove' });
    expect(decide({ starting, events: at(30) }, 1, settled)).toEqual({
      kind: 'write',
      gathering: gathering({ events: at(30), next_due: 130 }),
      because: 'Its job is made.',
    });
  });

  it('T36: with several copies, make the job when nothing else can take its place', () => {
    const world = { graceMs: 50, isConfirmed: false };
    expect(decide({ starting }, 159, world)).toEqual({ kind: 'wait', until: 160 });
    expect(decide({ starting }, 160, world)).toEqual({ kind: 'confirm' });
    const sure = { ...starting, sure: true };
    const written = decide({ starting, events: [] }, 160, { ...world, isConfirmed: true });
    expect(written).toMatchObject({ kind: 'write', gathering: { starting: sure } });
    expect(decide({ starting: sure }, 160, world)).toMatchObject({ kind: 'make' });
  });
});

describe('events that are to be gathered', () => {
  const joining: Joining = { into, ...rule };
  const join = (doc: StoredDocument | undefined, times: readonly number[], more: object = {}) =>
    withJoiners(
      into,
      doc,
      at(...times).map((one) => ({ ...one, joining: { ...joining, ...more } })),
    );

  it('T31: make a gathering, and join it once', () => {
    const first = join(undefined, [20, 10], { key: '1', params: 'p' });
    const doc = { _id: into, type: 'gathering', ...rule, key: '1', params: 'p' };
    expect(first).toEqual({
      kind: 'write',
      doc: { ...doc, events: at(20, 10), next_due: 110 },
    });
    expect(join(gathering(), [10, 20])).toEqual({ kind: 'there' });
    const busy = gathering({ starting: { job: 'j', at: 1, events: at(5) } });
    expect(join(busy, [5])).toEqual({ kind: 'there' });
    expect(join(busy, [5, 30, 30])).toMatchObject({ doc: { events: at(10, 20, 30) } });
  });

  it('bring the rule of the latest one', () => {
    const before = gathering({ params: 'old', max: 7 });
    const newer = join(before, [30], { by: 'debounce', period: 9, size: 5 });
    expect(newer).toMatchObject({ doc: { by: 'debounce', period: 9, size: 5, next_due: 39 } });
    expect((newer as { readonly doc: object }).doc).not.toHaveProperty('params');
    expect((newer as { readonly doc: object }).doc).not.toHaveProperty('max');
    const older = join(before, [5], { period: 9 });
    expect(older).toMatchObject({ doc: { period: 100, params: 'old', next_due: 20 } });
  });

  it('wait while too many wait, and are refused by what is no gathering', () => {
    const events = Array.from({ length: 2_000 }, (_, i) => ({ id: `e${i}`, at: i }));
    expect(join(gathering({ events }), [5_000])).toEqual({ kind: 'full' });
    const task = { _id: into, _rev: '1-t', type: 'task' };
    expect(join(task, [1])).toEqual({ kind: 'foreign' });
  });
});

describe('an event whose job is decided', () => {
  const gatheringOf = { _id: into, flow: 'f', owner: 'me' };
  const done = (triggered: object, made: 'made' | 'refused' = 'made') =>
    withItsJob(event('e', triggered), gatheringOf, {
      job: 'j',
      made: made === 'made' ? { kind: 'made' } : { kind: 'refused', reason: 'no' },
    })?.triggered;

  it('T31: names the job in place of the gathering', () => {
    const joining = { into, ...rule };
    const other = { into: 'o', ...rule };
    expect(done({ at: 1, gathering: [joining] })).toEqual({ at: 1, started: ['j'] });
    const before = { at: 1, gathered: [other, { into, ...rule }], started: ['i'] };
    expect(done(before)).toEqual({ at: 1, gathered: [other], started: ['i', 'j'] });
    expect(done({ at: 1, gathered: [{ into, ...rule }] }, 'refused')).toEqual({
      at: 1,
      refused: [{ flow: 'f::me', job: 'j', because: 'no' }],
    });
    const refused = [{ flow: 'h', because: 'no' }];
    expect(done({ at: 1, gathering: [joining], refused })).toMatchObject({ refused });
    expect(done({ at: 1, started: ['j'] })).toBeUndefined();
  });
});

describe('an event that its gathering has lost', () => {
  const anew = (triggered: unknown): unknown =>
    gatheredAnew(event('e', triggered), into)?.['triggered'];
  const [own, other] = [
    { into, ...rule },
    { ...rule, into: 'o' },
  ];

  it.each<[string, unknown, object | undefined]>([
    ['waits in nothing else', { at: 1, gathered: [own] }, { at: 1, gathering: [own] }],
    [
      'waits elsewhere, too',
      { at: 1, gathered: [other, own], gathering: [other], started: ['j'] },
      { at: 1, gathered: [other], gathering: [other, own], started: ['j'] },
    ],
    ['waits for another one', { at: 1, gathered: [other] }, undefined],
    ['is to be gathered already', { at: 1, gathering: [own] }, undefined],
    ['has its job', { at: 1, started: ['j'] }, undefined],
    ['cannot be read', 'x', undefined],
  ])('T37: is gathered anew, if it waits for it: one that %s', (_title, triggered, expected) => {
    expect(anew(triggered)).toEqual(expected);
  });
});

describe('revisions in conflict', () => {
  it('T36: become one with the events of all of them', () => {
    const winner = gathering({ starting: { job: 'j', at: 1, events: at(10) }, events: at(20) });
    const others = [gathering({ events: at(10, 20, 30) }), gathering({ events: at(40) })];
    const started = gathering({ starting: { job: 'k', at: 1, events: at(50) }, events: [] });
    expect(mergedGathering([winner, ...others, started])).toEqual({
      ...winner,
      events: at(20, 30, 40, 50),
      next_due: 40,
    });
    expect(mergedGathering([winner, gathering({ events: at(10, 20) })])).toBeUndefined();
    expect(mergedGathering([gathering(), gathering({ events: at(10) })])).toBeUndefined();
    const task = { _id: into, _rev: '1-t', type: 'task' };
    expect(mergedGathering([task, winner])).toBeUndefined();
    expect(mergedGathering([winner, task])).toBeUndefined();
  });
});

describe('revisions of an event in conflict', () => {
  const join = (name: string): Joining => ({ ...rule, into: name });
  const taken = join;
  const merged = (...all: readonly unknown[]): unknown =>
    mergedEvent(all.map((triggered) => event('e', triggered)))?.['triggered'];

  it.each<[string, readonly unknown[], object | undefined]>([
    [
      'one job each',
      [
        { at: 1, gathered: [taken('a')], started: ['j'] },
        { at: 1, gathered: [taken('b')], started: ['k'] },
      ],
      { at: 1, started: ['j', 'k'] },
    ],
    [
      'that it is taken',
      [
        { at: 1, gathering: [join('a'), join('b')] },
        { at: 1, gathered: [taken('a')], gathering: [join('b')] },
      ],
      { at: 1, gathering: [join('b')], gathered: [taken('a')] },
    ],
    [
      'a refusal',
      [
        { at: 1, gathering: [join('a')] },
        { at: 1, refused: [{ flow: 'f', because: 'no' }] },
      ],
      { at: 1, refused: [{ flow: 'f', because: 'no' }] },
    ],
    [
      'nothing new',
      [
        { at: 1, started: ['j'] },
        { at: 1, gathered: [taken('a')] },
      ],
      undefined,
    ],
    [
      'another gathering, decided at the same time',
      [
        { at: 1, gathering: [join('a')], gathered: [join('c')] },
        { at: 2, gathering: [join('b')] },
      ],
      undefined,
    ],
    [
      'a job, of another decision',
      [
        { at: 1, gathering: [join('a')] },
        { at: 2, started: ['j'] },
      ],
      { at: 1, started: ['j'] },
    ],
    ['nothing that can be read', [{ at: 1, started: ['j'] }, 'x'], undefined],
    ['nothing beside what cannot be read', ['x', { at: 1, started: ['j'] }], undefined],
  ])('T31, T36: become one, if another one says %s', (_title, all, expected) => {
    expect(merged(...all)).toEqual(expected);
  });

  it('of other documents are left as they are', () => {
    expect(mergedEvent([])).toBeUndefined();
    expect(mergedEvent([gathering(), gathering()])).toBeUndefined();
  });
});

it('a gathering is read as engines store it, and nothing else is', () => {
  expect(readGathering(gathering())).toEqual(gathering());
  expect(readGathering({ ...gathering(), size: 0 })).toBeUndefined();
  expect(readGathering({ type: 'event' })).toBeUndefined();
});
