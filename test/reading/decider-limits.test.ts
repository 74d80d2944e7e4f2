import { describe, expect, it } from 'vitest';
import { task } from '../support/builders.js';
import type { FailedStep } from '../../src/model/step.js';
import { sizes } from '../../src/model/size.js';
import { story, type Setting, type Story } from '../decide/story.js';

const many = <T>(length: number, make: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => make(i));

const boss = { decider: 'boss', name: 'plan' };

/** A job whose first step is a decider, which is asked. */
function deciding(more: Partial<Setting> = {}): Story {
  const told = story({
    steps: [boss, 'after'],
    tasks: [task('a'), task('h'), task('u')],
    world: { freeSlots: 10, plugins: ['boss', 'a', 'h', 'u', 'after'] },
    ...more,
  });
  told.go();
  return told;
}

/** Goes on for some revisions: one carries little where there is much to begin. */
const goOn = (told: Story): Story => {
  for (let i = 0; i < 5 && told.ending.exit === undefined; i += 1) told.stopped();
  return told;
};

const failed = (failure: string) => ({ state: '$$complete', exit: 3, failure });

describe('an answer of a decider', () => {
  it('may hold as many decisions as a list of a structure has nodes', () => {
    const told = deciding();
    told.did('boss', [
      ...many(sizes.nodes - 1, () => ({ record_marker: 'm' })),
      { schedule: 'a', id: 'x' },
    ]);
    expect(told.running).toEqual(['a']);
  });

  it('fails the decider when it holds more, which is not asked again', () => {
    const told = deciding({ steps: [{ ...boss, retry: 3 }] });
    told.did(
      'boss',
      many(sizes.nodes + 1, (i) => ({ schedule: 'a', id: `${i}` })),
    );
    expect(told.ending).toEqual(failed('TooManyDecisions'));
    expect(told.trail).toEqual(['boss#1 $$error']);
  });

  it('is an ordinary failure then: a handler recovers the decider', () => {
    const told = deciding({ steps: [{ ...boss, error: 'h' }, 'after'] });
    const answer = many(sizes.nodes + 1, () => ({ schedule: 'a' }));
    told.did('boss', answer).did('h');
    expect(told.running).toEqual(['after']);
  });
});

describe('the decisions of a decider', () => {
  const markers = many(1_000, () => ({ record_marker: 'm' }));
  /** A job whose decider has made so many thousands of decisions, and decides again. */
  const decided = (thousands: number, more: Partial<Setting> = {}): Story => {
    const told = deciding(more);
    const [first] = told.steps;
    const made = many(thousands, (i) => ({
      ...{ ...first, path: `0.decision.${i}`, claim: `${i}`, state: '$$complete' },
      ...{ start: told.now, end: told.now, exit: 0, result: markers },
    }));
    return told.edit({
      steps: [...made, { ...first, path: `0.decision.${thousands}` }],
    });
  };

  it('may be ten thousand', () => {
    const told = decided(9);
    told.did('boss', [...markers.slice(1), { schedule: 'a', id: 'x' }]);
    expect(told.running).toEqual(['a']);
  });

  it('fail it when there are more', () => {
    const told = decided(10);
    told.did('boss', { schedule: 'a', id: 'x' });
    goOn(told);
    expect(told.ending).toEqual(failed('TooManyDecisions'));
    expect(told.running).toEqual([]);
  });

  it.each<[title: string, flow: NonNullable<Setting['flow']>, then: string]>([
    ['the handler runs', { error: 'h' }, 'h'],
    ['the error branch runs', { error: ['h'] }, 'h'],
  ])('fail it like anything else: %s', (_title, flow, then) => {
    const told = decided(10, { flow });
    told.did('boss', { schedule: 'a', id: 'x' });
    goOn(told);
    expect(told.running).toEqual([then]);
  });

  it('fail it like anything else: what was done is undone', () => {
    const tasks = [task('a', { undo: 'u' }), task('u')];
    const told = story({
      steps: ['a', boss],
      tasks,
      world: { freeSlots: 10, plugins: ['boss', 'a', 'u'] },
    });
    told.go();
    told.did('a').did('boss', markers);
    const [done, first] = told.steps;
    const made = many(11, (i) => ({ ...first, path: `1.decision.${i}`, claim: `${i}` }));
    told.edit({ steps: [done, ...made] });
    goOn(told);
    expect(told.running).toEqual(['u']);
    told.did('u');
    goOn(told);
    expect(told.ending).toEqual(failed('TooManyDecisions'));
  });

  it('are too many also where somebody wrote them into one answer', () => {
    const told = deciding();
    told.did('boss', []);
    const [first] = told.steps;
    told.edit({ steps: [{ ...first, result: many(10_001, () => ({ schedule: 'a' })) }] });
    goOn(told);
    expect(told.ending).toEqual(failed('TooManyDecisions'));
  });

  it('do not matter when the next answer completes it', () => {
    const told = decided(10);
    told.did('boss', { complete: 1 });
    expect(told.running).toEqual(['after']);
  });

  it('do not matter when the next answer has the job continue as a new one', () => {
    const told = decided(10);
    told.did('boss', { continue_as_new: true });
    goOn(told);
    expect(told.ending.failure).toBeUndefined();
  });

  it('do not matter when it has completed', () => {
    const told = decided(9);
    told.did('boss', { complete: 1 });
    const [first] = told.steps;
    const before = { ...first, result: many(3_000, () => ({ record_marker: 'm' })) };
    told.edit({ steps: [before, ...told.steps.slice(1)] });
    goOn(told);
    expect(told.running).toEqual(['after']);
    told.did('after');
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('do not matter when it has failed and a handler recovered it', () => {
    const told = decided(10, { steps: [{ ...boss, error: 'h' }, 'after'] });
    told.did('boss', { fail: 'no' });
    expect(told.running).toEqual(['h']);
    const before = { ...told.steps[0], result: many(3_000, () => ({ record_marker: 'm' })) };
    told.edit({ steps: [before, ...told.steps.slice(1)] });
    goOn(told);
    expect(told.running).toEqual(['h']);
    told.did('h');
    expect(told.running).toEqual(['after']);
  });

  it('do not matter where the flow has no decider', () => {
    const told = deciding();
    const [first] = told.steps;
    const made = many(11, (i) => ({
      ...{ ...first, path: `7.decision.${i}`, claim: `${i}`, state: '$$complete' },
      ...{ start: told.now, end: told.now, exit: 0, result: markers },
    }));
    told.edit({ steps: [...made, ...told.steps] });
    goOn(told);
    expect(told.running).toEqual(['boss']);
  });

  it('do not matter when nobody needs the decider any more', () => {
    const steps = [{ parallel: [boss, 'a'], join: 'any', cancel_rest: true }, 'after'];
    const told = deciding({ steps });
    told.did('a');
    goOn(told);
    const first = told.steps.find(({ path }) => path.endsWith('.decision.0'));
    const others = told.steps.filter((step) => step !== first);
    const made = many(11, (i) => ({
      ...{ ...first, path: `0.parallel.0.decision.${i}`, claim: `${i}`, state: '$$complete' },
      ...{ start: told.now, end: told.now, exit: 0, result: markers },
    }));
    told.edit({ steps: [...made, ...others] });
    goOn(told);
    expect(told.ending.exit).toBeUndefined();
    expect(told.running).toEqual(['after']);
  });

  it('are not added to those of another decider', () => {
    const told = deciding({ steps: [boss, { decider: 'boss', name: 'other' }] });
    const [first] = told.steps;
    const answers = (path: string, last: number, ending: object) =>
      many(last + 1, (i) => ({
        ...{ ...first, path: `${path}.decision.${i}`, claim: `${path}${i}`, index: Number(path) },
        ...{ state: '$$complete', start: told.now, end: told.now, exit: 0 },
        result: i < last ? markers : ending,
      }));
    told.edit({
      steps: [...answers('0', 9, { complete: 1 }), ...answers('1', 8, { schedule: 'a', id: 'x' })],
    });
    goOn(told);
    expect(told.running).toEqual(['a']);
  });

  it('do not count when the decider began anew', () => {
    const told = decided(10);
    told.edit({ run: 2, redo: [{ run: 2, from: '0' }] }).go();
    expect(told.last).toMatchObject({ path: '0.decision.0', state: '$$active', run: 2 });
  });
});

describe('the decisions of a decider in what follows', () => {
  const markers = many(1_000, () => ({ record_marker: 'm' }));
  const world = { freeSlots: 10, plugins: ['boss', 'bad', 'a'] };
  const afterFailure = (more: object = {}): Story => {
    const told = story({
      steps: ['bad'],
      tasks: [task('a')],
      world,
      flow: { error: [boss], ...more },
    });
    told.go();
    return told.broke('bad');
  };
  const afterCancel = (): Story => {
    const flow = { cancel: { sequence: [boss] } } as NonNullable<Setting['flow']>;
    const told = story({ steps: ['bad'], tasks: [task('a')], world, flow });
    told.go();
    told.ask('cancel');
    return told.stopped();
  };
  const afterTwo = (): Story => afterFailure({ error: ['a', boss] }).did('a');

  const cases: readonly (readonly [string, () => Story, string, object])[] = [
    ['a failure', afterFailure, 'error.sequence.0', { exit: 2, failure: 'Broken' }],
    ['a failure, after another step', afterTwo, 'error.sequence.1', { exit: 2, failure: 'Broken' }],
    ['a cancel', afterCancel, 'cancel.sequence.0', { exit: 130, failure: 'Cancelled' }],
  ];

  it.each(cases)('are limited after %s', (_title, begin, path, end) => {
    const told = begin();
    const first = told.live;
    expect(first.path).toBe(`${path}.decision.0`);
    const made = many(10, (i) => ({
      ...{ ...first, path: `${path}.decision.${i}`, claim: `${i}`, state: '$$complete' },
      ...{ start: told.now, end: told.now, exit: 0, result: markers },
    }));
    const others = told.steps.filter((step) => step !== first);
    told.edit({ steps: [...others, ...made, { ...first, path: `${path}.decision.10` }] });
    told.did('boss', { schedule: 'a', id: 'x' });
    goOn(told);
    expect(told.running).toEqual([]);
    expect(told.ending).toMatchObject(end);
    const names = told.steps.map((step) => (step as Partial<FailedStep>).failure?.name);
    expect(names).toContain('TooManyDecisions');
  });

  it('do not keep the cancel branch from running when the flow made them', () => {
    const flow = { cancel: { sequence: ['a'] } } as NonNullable<Setting['flow']>;
    const told = story({ steps: [boss], tasks: [task('a')], world, flow });
    told.go();
    const { live: first } = told;
    const made = many(11, (i) => ({
      ...{ ...first, path: `0.decision.${i}`, claim: `${i}`, state: '$$complete' },
      ...{ start: told.now, end: told.now, exit: 0, result: markers },
    }));
    told.edit({ steps: [...made, { ...first, path: '0.decision.11' }] });
    told.ask('cancel');
    told.stopped().did('a');
    expect(told.ending).toMatchObject({ exit: 130 });
    expect(told.last).toMatchObject({ name: 'a', state: '$$complete' });
  });

  it.each(cases)('are limited in one answer after %s', (_title, begin, _path, end) => {
    const told = begin();
    told.did(
      'boss',
      many(sizes.nodes + 1, (i) => ({ schedule: 'a', id: `${i}` })),
    );
    goOn(told);
    expect(told.ending).toMatchObject(end);
    expect(told.last).toMatchObject({ failure: { name: 'TooManyDecisions' } });
  });

  it.each(cases)('are not all in vain after %s', (_title, begin, _path, end) => {
    const told = begin();
    for (let i = 0; i < 101 && told.running.includes('boss'); i += 1) {
      told.did('boss', { cancel: 'nobody' });
    }
    goOn(told);
    expect(told.ending).toMatchObject(end);
    expect(told.last).toMatchObject({ failure: { name: 'DecidedInVain' } });
  });
});

/** Paths of the decisions that were asked for. */
function decisionsOf(told: Story): readonly string[] {
  return told.steps.map(({ path }) => path).filter((path) => path.includes('.decision.'));
}

describe('a decider that asks in vain', () => {
  const often = 100;
  const ask = (told: Story, answer: (i: number) => unknown, times = often): Story => {
    for (let i = 0; i < times && told.running.includes('boss'); i += 1) {
      told.did('boss', answer(i));
    }
    return told;
  };

  it.each<[title: string, answer: (i: number) => unknown, last: string]>([
    [
      'schedules a task that is missing',
      (i) => ({ schedule: 'nowhere', id: `${i}` }),
      'There is no task "nowhere"',
    ],
    ['gives an id that is taken', () => ({ schedule: 'a', id: 'x' }), 'The id "x" is taken.'],
    [
      'cancels what was never begun',
      () => ({ cancel: 'nobody' }),
      'There is no "nobody" to cancel.',
    ],
    [
      'cancels what has ended',
      () => ({ cancel: 'x' }),
      '"x" had ended when it was to be cancelled.',
    ],
    [
      'sets a timer that is none',
      (i) => ({ start_timer: 'soon', id: `t${i}` }),
      'The delay "soon" is neither',
    ],
  ])('fails after a hundred answers: it %s', (_title, answer, last) => {
    const told = deciding();
    told.did('boss', { schedule: 'a', id: 'x' }).did('a');
    ask(told, answer);
    expect(told.running).toEqual(['boss']);
    ask(told, answer, 1);
    expect(told.ending).toEqual(failed('DecidedInVain'));
    expect(told.last).toMatchObject({ failure: { name: 'DecidedInVain' } });
    expect((told.last as FailedStep).failure.message).toContain(last);
  });

  it('may still end by itself with the next answer', () => {
    const told = ask(deciding(), () => ({ cancel: 'nobody' }));
    told.did('boss', { complete: 1 });
    expect(told.running).toEqual(['after']);
  });

  it.each<[title: string, answer: (i: number) => unknown]>([
    ['something begins', (i) => ({ schedule: 'a', id: `x${i}` })],
    ['something waits', () => ({ start_timer: 900, id: 't' })],
    ['it asks for nothing', () => []],
  ])('goes on when %s meanwhile', (_title, between) => {
    const told = ask(deciding(), () => ({ cancel: 'nobody' }), often - 1);
    told.did('boss', between(0));
    if (told.running.includes('a')) told.did('a');
    if (!told.running.includes('boss')) told.at(1).signal('go');
    ask(told, () => ({ cancel: 'nobody' }), 2);
    expect(told.ending.exit).toBeUndefined();
    expect(told.running).toEqual(['boss']);
  });

  it('goes on when something it began has failed meanwhile', () => {
    const told = ask(deciding(), () => ({ cancel: 'nobody' }), often - 1);
    told.did('boss', { schedule: 'a', id: 'y' }).broke('a');
    ask(told, () => ({ cancel: 'nobody' }), 1);
    expect(told.ending.exit).toBeUndefined();
  });

  it('goes on when a handler did what it began, or something was cancelled', () => {
    const told = deciding({ tasks: [task('a', { error: 'h' }), task('h'), task('u')] });
    told.did('boss', { start_timer: 999, id: 't' }).signal('go');
    ask(told, () => ({ cancel: 'nobody' }), often - 2);
    told.did('boss', { schedule: 'nowhere', id: 'y' });
    told.did('boss', { cancel: 't' });
    ask(told, () => ({ cancel: 'nobody' }), often - 1);
    expect(told.ending.exit).toBeUndefined();
    told.did('boss', { schedule: 'a', id: 'z' }).broke('a').did('h');
    ask(told, () => ({ cancel: 'nobody' }), often - 1);
    expect(told.ending.exit).toBeUndefined();
  });

  it('goes on while a timer waits, or when it cancels what has not begun', () => {
    const told = deciding({ tasks: [task('a'), task('rare')] });
    told.did('boss', { start_timer: 999_999, id: 't' }).signal('go');
    ask(told, () => ({ cancel: 'nobody' }), often + 1);
    expect(told.ending.exit).toBeUndefined();
    const other = deciding({ tasks: [task('a'), task('rare')] });
    other.did('boss', { schedule: 'rare', id: 'r' }).signal('go');
    other.did('boss', [{ cancel: 'r' }, { cancel: 'nobody' }]);
    ask(other, () => ({ cancel: 'nobody' }), often - 1);
    expect(other.ending.exit).toBeUndefined();
  });

  it('cancels the first of two that have one id', () => {
    const told = deciding();
    told.did('boss', [
      { schedule: 'a', id: 'x' },
      { start_timer: 999, id: 'x' },
    ]);
    told.signal('go').did('boss', { cancel: 'x' });
    goOn(told);
    const cancelled = told.steps.filter(({ state }) => state === '$$cancelled');
    expect(cancelled.map(({ path }) => path)).toEqual(['0.activity.x']);
  });

  it.each<[title: string, begun: object]>([
    ['an activity runs', { schedule: 'a', id: 'x' }],
    ['a timer waits', { start_timer: 999_999, id: 'x' }],
    ['an activity is still to begin', { schedule: 'rare', id: 'x' }],
  ])('is told once that an id is taken, and waits, while %s', (_title, begun) => {
    const told = deciding({ tasks: [task('a'), task('rare')], flow: { timeout: 999_999 } });
    told.did('boss', begun).signal('go');
    ask(told, () => begun, often + 2);
    expect(decisionsOf(told)).toEqual(['0.decision.0', '0.decision.1', '0.decision.2']);
    expect(told.running).not.toContain('boss');
    expect(told.ending.exit).toBeUndefined();
  });

  it('is told once that an id is taken, and waits, while an activity is to be tried again', () => {
    const told = deciding();
    const plan = { schedule: 'a', id: 'x', retry: { limit: 3, delay: 50_000 } };
    told.did('boss', plan).broke('a').signal('go');
    ask(told, () => plan, often + 2);
    expect(decisionsOf(told)).toEqual(['0.decision.0', '0.decision.1', '0.decision.2']);
    expect(told.ending.exit).toBeUndefined();
  });

  it('is asked again when what has the id ends', () => {
    const told = deciding();
    const plan = { schedule: 'a', id: 'x' };
    told.did('boss', plan).signal('go');
    ask(told, () => plan);
    expect(told.running).toEqual(['a']);
    told.did('a');
    expect(told.running).toEqual(['boss']);
  });

  it.each([
    ['fails when its answers lie within a minute', 600, true],
    ['goes on when its answers lie further apart', 700, false],
  ])('%s', (_title, apart, isFailure) => {
    const told = deciding({ flow: { timeout: 999_999 } });
    ask(
      told,
      (i) => {
        told.at(i * apart);
        return { schedule: 'nowhere', id: `${i}` };
      },
      often + 1,
    );
    expect(told.ending.failure).toBe(isFailure ? 'DecidedInVain' : undefined);
  });

  it('is asked as often again when the job is tried again', () => {
    const told = ask(deciding(), () => ({ cancel: 'nobody' }), often + 1);
    expect(told.ending).toEqual(failed('DecidedInVain'));
    told.ask('retry');
    ask(told, () => ({ cancel: 'nobody' }), 2);
    expect(told.ending.exit).toBeUndefined();
    expect(told.running).toEqual(['boss']);
  });
});

describe('a decider that gives no ids', () => {
  it('gets numbers that are free in the whole of its answers', () => {
    const told = deciding();
    const timers = [3, 4, 6].map((id) => ({ start_timer: 99, id: `${id}` }));
    told.did('boss', [...timers, { schedule: 'a' }, { schedule: 'a' }, { schedule: 'a' }]);
    const begun = told.steps.filter(({ path }) => path.includes('.activity.'));
    expect(begun.map(({ path }) => path)).toEqual(['0.activity.5', '0.activity.7', '0.activity.8']);
  });
});
