import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFinal, type LiveJob } from '../../src/model/job.js';
import type { Failure, Step } from '../../src/model/step.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { minutes, runs } from '../support/properties.js';
import { family } from '../decide/family.js';
import { anyScenario } from '../decide/simulation/flows.js';
import { simulate } from '../decide/simulator.js';
import { begun, story, type Story } from '../decide/story.js';

type Result = Readonly<Record<string, unknown>>;
const map = (more: object = {}): WrittenNode[] => [
  { map: { over: [1, 2, 3, 4], limit: 1, do: 'a', ...more } },
  'z',
];
const loop: WrittenNode[] = [{ loop: { max: 3, do: 'a' } }, 'z'];
const choice: WrittenNode[] = [
  {
    choice: [
      { when: 'w', then: 'a' },
      { when: 'v', then: 'b' },
    ],
    default: 'c',
  },
];

/** The job after somebody has changed the last record about the structure at its first place. */
function spoil(told: Story, change: (result: Result) => unknown): Story {
  const at = told.steps.findLastIndex(({ path, structure }) => path === '0' && structure);
  const steps = told.steps.map((step, i) =>
    i === at ? { ...step, result: change((step as { result: Result }).result) } : step,
  );
  return told.write({ steps });
}

/** Ends all that runs, well, until the job is final. */
function toEnd(told: Story): Story {
  for (let moves = 0; !isFinal(told.job); moves += 1) {
    if (moves > 100) throw new Error('The job does not end.');
    const [path] = told.open;
    if (path === undefined) told.go();
    else if (told.decide().kind === 'abort') told.stopped();
    else told.did(path);
  }
  return told;
}

const doneBy = ({ steps }: Story, task: string): number =>
  steps.filter((step) => step.task === task && step.state === '$$complete').length;

const lists: readonly (readonly [string, (result: Result) => unknown, string])[] = [
  ['was taken out', () => ({}), 'it has no list of "items".'],
  ['is none', () => 5, 'it has no list of "items".'],
  ['is shorter', ({ items, count }) => ({ items: (items as []).slice(0, 2), count }), '2 items'],
  ['is shorter than what was begun', () => ({ items: [] }), 'item 1 was begun, and there are 0'],
  ['is longer', ({ items, count }) => ({ items: [...(items as []), 5], count }), '5 items'],
  [
    'begins elsewhere',
    (mark) => ({ ...mark, from: 2 }),
    'item 0 was begun, and there are 4 from 2',
  ],
  ['begins nowhere', (mark) => ({ ...mark, from: -1 }), '"from" is no number of an item.'],
  [
    'is gone over in slices of nothing',
    (mark) => ({ ...mark, slice: 'x' }),
    '"slice" is no number',
  ],
  ['is gone over in slices all at once', (mark) => ({ ...mark, slice: 2 }), 'items were begun'],
];

describe('A2: what is on record about a map and was changed by hand', () => {
  it.each(lists)('is not believed when its list %s, and nothing is left out', (_t, change, why) => {
    const told = begun(map()).did('0.map.0');
    spoil(told, change);
    toEnd(told);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'MarkUnfit' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining(why) as string },
      problems: [{ message: expect.stringContaining('map "0" does not fit') as string }],
    });
    told.edit({ retry: true }).go();
    toEnd(told);
    expect(told.ending).toMatchObject({ exit: 0 });
    expect(doneBy(told, 'a')).toBe(4);
  });

  it('is believed when list and number were changed alike', () => {
    const told = spoil(begun(map()), () => ({ items: [1, 2], count: 2 }));
    expect(toEnd(told).ending).toMatchObject({ exit: 0 });
    expect(doneBy(told, 'a')).toBe(2);
  });

  it('is believed as earlier versions wrote it', () => {
    const told = spoil(begun(map()), ({ items }) => ({ items }));
    expect(toEnd(told).ending).toMatchObject({ exit: 0 });
  });

  it.each<[string, (result: Result) => unknown, string]>([
    ['has no slices any more', ({ slice: _slice, ...mark }) => mark, '"slice" is missing'],
    ['has fewer of them', (mark) => ({ ...mark, slice: 4 }), 'slice 1 was begun'],
  ])('is not believed when it %s', (_title, change, why) => {
    const told = family(map({ slice: 2, limit: 4 }));
    spoil(told.story(), change).go();
    expect(told.story().last).toMatchObject({
      failure: { message: expect.stringContaining(why) as string },
    });
  });

  it('is not believed when a slice tells of other items than it has', () => {
    const told = family(map({ slice: 2, limit: 4 })).endAll();
    const parent = told.story();
    expect(told.job()).toMatchObject({ exit: 0 });
    const steps = parent.steps.map((step) =>
      step.path === '0.slice.0' ? { ...step, result: { items: [1] } } : step,
    );
    const { end: _end, exit: _exit, result: _result, ...live } = parent.job as Result;
    const again = story({ steps: map({ slice: 2, limit: 4 }) });
    again.write({ ...live, state: 'map-0', steps }).go();
    expect(again.last).toMatchObject({
      failure: { message: expect.stringContaining('0.slice.0 has not 2 items') as string },
    });
  });

  it('is not believed in a slice either', () => {
    const told = family(map({ slice: 2, limit: 4 }));
    const child = told.story('j:0.slice.0:1');
    const { slice } = child.liveJob;
    const before = slice?.before.map((step) => ({
      ...step,
      result: { items: [], from: 0, count: 2 },
    }));
    child.write({ slice: { ...slice, before } });
    toEnd(child);
    expect(child.ending).toMatchObject({ exit: 3, failure: 'MarkUnfit' });
  });
});

describe('A2: what is on record about a loop and was changed by hand', () => {
  type Change = (marks: readonly Step[]) => readonly unknown[];
  const changes: readonly (readonly [string, Change, string])[] = [
    [
      'jumps',
      ([one, two]) => [one, two, two],
      'the record of round 2 is missing, or there are two',
    ],
    ['has lost a round', ([, two]) => [two], 'the record of round 0 is missing'],
    ['says nothing', ([one]) => [one, { ...one, result: {} }], 'whether round 1 takes place'],
    [
      'goes on after its end',
      ([one, two]) => [{ ...one, result: { again: false } }, two],
      'after its end in round 0',
    ],
    [
      'ends before a round that was begun',
      ([one, two]) => [one, { ...two, result: { again: false, round: 1 } }],
      'round 1 was begun',
    ],
  ];
  it.each(changes)('is not believed when it %s', (_title, change, why) => {
    const told = begun(loop).did('a');
    const isMark = ({ structure }: Step): boolean => structure !== undefined;
    const marks = change(told.steps.filter(isMark)) as readonly Step[];
    told.write({ steps: [...marks, ...told.steps.filter((step) => !isMark(step))] });
    toEnd(told);
    expect(told.ending).toMatchObject({ exit: 3, failure: 'MarkUnfit' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining(why) as string },
    });
    told.edit({ retry: { from: 'a' } }).go();
    expect(toEnd(told).ending).toMatchObject({ exit: 0 });
  });
});

describe('A2: what is on record about a choice and was changed by hand', () => {
  const w = { '0.choice[0].when': true, '0.choice[1].when': false };
  it.each<[string, unknown, string]>([
    ['names no case', 7, '"chosen" is none of its cases'],
    ['names nothing', undefined, '"chosen" is none of its cases'],
    ['names another case', 1, 'case 0 was begun, and "chosen" differs'],
    ['names the default', 'default', 'case 0 was begun, and "chosen" differs'],
    ['says that none was taken', null, 'case 0 was begun, and "chosen" differs'],
  ])('is not believed when it %s', (_title, chosen, why) => {
    const told = story({ steps: choice }).answering(w);
    told.go();
    spoil(told, () => ({ chosen }));
    toEnd(told);
    expect(told.ending).toMatchObject({ exit: 3, failure: 'MarkUnfit' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining(why) as string },
    });
  });

  const none = { '0.choice[0].when': false, '0.choice[1].when': false };
  it.each<[string, unknown]>([
    ['names a case', 0],
    ['says that none was taken', null],
  ])('is not believed when the default was taken and it %s', (_title, chosen) => {
    const told = story({ steps: choice }).answering(none);
    told.go();
    spoil(told, () => ({ chosen }));
    toEnd(told);
    expect(told.ending).toMatchObject({ exit: 3, failure: 'MarkUnfit' });
    expect(told.job).toMatchObject({
      failure: {
        message: expect.stringContaining('the default was begun, and "chosen" differs') as string,
      },
    });
    expect(doneBy(told, 'a')).toBe(0);
  });

  it.each<[string, object, object, string]>([
    ['another case', w, { '0.choice[0].when': false, '0.choice[1].when': true }, 'b'],
    ['the default', w, none, 'c'],
    ['a case in place of the default', none, w, 'a'],
  ])('is found out anew by a retry, which may take %s', (_title, first, then, taken) => {
    const told = story({ steps: choice }).answering({ ...first });
    told.go();
    spoil(told, () => ({ chosen: 7 }));
    toEnd(told);
    expect(told.ending).toMatchObject({ exit: 3, failure: 'MarkUnfit' });
    told
      .answering({ ...then })
      .edit({ retry: true })
      .go();
    told.go();
    told.broke(taken).edit({ retry: true }).go();
    toEnd(told);
    expect(told.ending).toMatchObject({ exit: 0 });
    expect(doneBy(told, taken)).toBe(1);
  });
});

/** Records that a person may have made of one, none of which says the same with fewer items or rounds. */
const anyChange = fc.oneof(
  fc.constantFrom<(mark: Result) => unknown>(
    () => ({}),
    () => null,
    ({ items = [], ...mark }) => ({ ...mark, items: (items as []).slice(1) }),
    ({ items = [], ...mark }) => ({ ...mark, items: [...(items as []), 9] }),
    (mark) => ({ ...mark, items: 'x', again: 'x' }),
    (mark) => ({ ...mark, count: 1, round: 7 }),
  ),
  fc
    .tuple(
      fc.constantFrom('from', 'slice', 'count', 'round'),
      fc.constantFrom(-1, 0, 1, 2, 'x', {}),
    )
    .map(([key, value]) => (mark: Result) => ({ ...mark, [key]: value })),
);

describe('what engines have written about structures', () => {
  it('A1: fits in every run of a job', minutes, () => {
    fc.assert(
      fc.property(anyScenario, (given) => {
        const { steps = [] } = simulate(given).revisions.at(-1)?.job as Partial<LiveJob>;
        const names = steps.map((one) => (one as { failure?: Failure }).failure?.name);
        expect(names).not.toContain('MarkUnfit');
      }),
      runs(100),
    );
  });
});

describe('a job of which a record about a structure was changed at any time', () => {
  const steps: WrittenNode[] = [
    { map: { over: [1, 2, 3], limit: 2, do: { sequence: ['a', 'b'] } } },
    { loop: { max: 3, do: { map: { over: [1, 2], do: 'c' } } } },
  ];
  const all = { a: 3, b: 3, c: 6 };
  const anyCase = fc.tuple(
    fc.nat(14),
    fc.nat(9),
    anyChange,
    fc.constantFrom('edit', 'drop', 'twice'),
  );

  it('either does all of its work or ends with exit 3 and says why', minutes, () => {
    fc.assert(
      fc.property(anyCase, ([after, which, change, way]) => {
        const told = begun(steps);
        for (let i = 0; i < after && !isFinal(told.job); i += 1) told.did(told.open[0] as string);
        if (isFinal(told.job)) return;
        const marks = told.steps.filter(({ structure }) => structure !== undefined);
        const mark = marks[which % marks.length] as Step & { result: Result };
        const edited = { ...mark, result: change(mark.result) };
        const made = { edit: [edited], drop: [], twice: [mark, mark] }[way] as readonly Step[];
        told.write({ steps: told.steps.flatMap((step) => (step === mark ? made : [step])) });
        toEnd(told);
        const { exit, failure } = told.ending;
        if (exit !== 0) expect([exit, failure]).toEqual([3, 'MarkUnfit']);
        else
          for (const [task, count] of Object.entries(all)) expect(doneBy(told, task)).toBe(count);
      }),
      runs(400),
    );
  });
});
