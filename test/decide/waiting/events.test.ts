import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/decide/world.js';
import type { AnnouncedEvent } from '../../../src/model/event.js';
import { t0 } from '../../support/builders.js';
import { begun, story } from '../story.js';

const wait = { wait: { event: 'paid' } };
const matching = { wait: { event: 'paid', match: 'event.data.sum > 10' } };
const found = (...events: readonly AnnouncedEvent[]) => ({
  events: { 'paid:': { kind: 'found' as const, events } },
});
const event = (id: string, more: Partial<AnnouncedEvent> = {}): AnnouncedEvent => ({
  ...{ id, rev: '1', at: t0, until: t0 + 1_000, data: id },
  ...more,
});
const answersOf = (path: string, answers: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(answers).map(([id, value]) => [`${path}.wait.match ${id} 1`, value]),
  );
/** Answers as the evaluator gives them; an error is a failure. */
const given = (path: string, answers: Readonly<Record<string, unknown>>) => ({
  answers: Object.fromEntries(
    Object.entries(answersOf(path, answers)).map(([id, value]): [string, Answer] => [
      id,
      value instanceof Error ? { ok: false, reason: value.message } : { ok: true, value },
    ]),
  ),
});

describe('the life of an event', () => {
  // Shows X-14.
  it.each<[string, Partial<AnnouncedEvent>, boolean]>([
    ['before its end', { until: t0 + 51 }, true],
    ['not at its end', { until: t0 + 50 }, false],
    ['not after its end', { until: t0 + 1 }, false],
  ])('N15: lets a wait take it %s', (_title, more, isTaken) => {
    const told = begun([wait, 'a'])
      .at(50)
      .with(found(event('x', more)));
    told.go();
    expect(told.steps[0]?.state).toBe(isTaken ? '$$complete' : '$$waiting');
  });

  it('N15: begins when an engine handles it: until then it lives', () => {
    const told = begun([wait, 'a'])
      .at(50)
      .with(found({ id: 'x', data: 1 }));
    told.go();
    expect(told.steps[0]).toMatchObject({ result: 1, event_id: 'x' });
  });
});

describe('several events of one key', () => {
  const two = found(event('b', { at: t0 + 1 }), event('c'), { id: 'new', data: 'new' });

  it('N16: are taken one after the other, the oldest first', () => {
    const told = begun([wait, wait, wait, 'a']).at(5).with(two);
    told.go();
    expect(told.steps.map((step) => step['event_id'])).toEqual(['c', 'b', 'new', undefined]);
    expect(told.steps.map((step) => step['result'])).toEqual(['c', 'b', 'new', undefined]);
  });

  it('N16: those of the same moment are taken by their ids', () => {
    const told = begun([wait, wait])
      .at(5)
      .with(found(event('z'), event('y')));
    told.go();
    expect(told.steps.map((step) => step['event_id'])).toEqual(['y', 'z']);
  });

  it('N16: a later wait takes none that an earlier one took', () => {
    const told = begun([wait, wait])
      .at(5)
      .with(found(event('x')));
    told.go();
    expect(told.steps.map(({ state }) => state)).toEqual(['$$complete', '$$waiting']);
    told.with(found(event('x'), event('y', { at: t0 + 5 }))).go();
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  it('N16: waits beside each other take the same one', () => {
    const told = begun([{ parallel: [wait, wait] }, 'a'])
      .at(5)
      .with(found(event('x')));
    told.go();
    expect(told.running).toEqual(['a']);
  });

  it('N16: a wait in a branch that began after the end of one in another takes the next', () => {
    const told = begun([{ parallel: [wait, { sequence: [{ delay: 10 }, wait] }] }, 'a']);
    told
      .at(5)
      .with(found(event('x')))
      .go();
    told.at(10).go();
    expect(told.open).toEqual(['0.parallel.1.sequence.1']);
    told.with(found(event('x'), event('y'))).go();
    expect(told.running).toEqual(['a']);
  });

  it('N16: a wait beside one that ended later takes the same one', () => {
    const told = begun([{ parallel: [wait, { sequence: [{ delay: 10 }, wait] }] }, 'a']);
    told.at(10).go();
    told
      .at(20)
      .with(found(event('x')))
      .go();
    expect(told.running).toEqual(['a']);
  });

  it('N16: steps that somebody robbed of their times count as beside each other', () => {
    const told = begun([{ parallel: [wait, wait] }, 'a']);
    const [first, second] = told.steps;
    const {
      accepted: _accepted,
      start: _start,
      ...bare
    } = first as unknown as Record<string, unknown>;
    const ended = { ...bare, state: '$$complete', exit: 0, end: t0, event_id: 'x' };
    const { accepted: _at, ...open } = second as unknown as Record<string, unknown>;
    told.edit({ steps: [ended, open] });
    told
      .at(5)
      .with(found(event('x')))
      .go();
    expect(told.running).toEqual(['a']);
  });

  it('N16: each round of a loop takes the next one', () => {
    const told = story({ steps: [{ loop: { while: 'w', max: 3, do: wait } }] });
    told
      .answering({ '0.loop.0.while': true, '0.loop.1.while': true, '0.loop.2.while': false })
      .at(5);
    told.with(found(event('x'), event('y'))).go();
    const taken = told.steps.flatMap((step) => step['event_id'] ?? []);
    expect(taken).toEqual(['x', 'y']);
  });

  it('N16: a wait that is asked for anew may take the same one again', () => {
    const told = begun([wait, 'a'])
      .at(5)
      .with(found(event('x')));
    told.go();
    told.broke('a').ask('retry', { from: 'wait' });
    expect(told.running).toEqual(['a']);
  });

  it('N17: one that lives for ever releases later waits where there is nothing new', () => {
    const fact = (id: string, at: number): AnnouncedEvent => ({
      ...{ id, rev: '1', at, data: id },
      isFact: true,
    });
    const told = begun([wait, wait, wait, 'a'])
      .at(5)
      .with(found(fact('x', 1), fact('y', 2)));
    told.go();
    expect(told.steps.map((step) => step['event_id'])).toEqual(['x', 'y', 'y', undefined]);
    expect(told.running).toEqual(['a']);
  });
});

describe('the match of a wait', () => {
  it('is asked with the event, the job, the parameters and the results before', () => {
    const setting = { steps: [{ task: 'a' }, { ...matching, params: { least: 10 } }] };
    const told = story(setting);
    told.go();
    told.did('a', { n: 1 }).at(5);
    expect(told.decide(told.job, found(event('x')))).toMatchObject({
      kind: 'look_up',
      questions: [
        {
          id: '1.wait.match x 1',
          expression: 'event.data.sum > 10',
          context: {
            event: { id: 'x', type: 'paid', key: '', data: 'x' },
            params: { least: 10 },
            results: { a: { n: 1 } },
            step: { path: '1', name: 'wait' },
          },
        },
      ],
    });
  });

  it('N16: says which event is taken: the oldest for which it is true', () => {
    const answers = answersOf('0', { x: false, y: true, z: true });
    const told = begun([matching, 'a']).answering(answers).at(5);
    told.with(found(event('x'), event('y'), event('z'))).go();
    expect(told.steps[0]).toMatchObject({ event_id: 'y' });
  });

  it('waits on, until its timeout, where it takes none', () => {
    const steps = [{ wait: { ...matching.wait, timeout: 20 } }, 'a'];
    const told = begun(steps).answering(answersOf('0', { x: false, y: undefined }));
    told
      .at(5)
      .with(found(event('x'), event('y')))
      .go();
    expect(told.open).toEqual(['0']);
    expect(told.job).not.toHaveProperty('problems');
    told.at(20).go();
    expect(told.ending).toMatchObject({ failure: 'WaitTimeout' });
  });

  it.each([
    ['gives no truth', 7, 'it gives neither true nor false'],
    ['fails', new Error('no function'), 'no function'],
  ])(
    'N18: that %s is told once, takes no event, and the step waits on',
    (_title, value, reason) => {
      const told = begun([matching, 'a']).with(given('0', { x: value, y: value }));
      told
        .at(5)
        .with(found(event('x'), event('y')))
        .go();
      told.at(6).go();
      expect(told.open).toEqual(['0']);
      const message = `The "match" of step "wait" cannot be evaluated for event x: ${reason}. The event is not taken, and the step waits on.`;
      expect(told.job).toMatchObject({ problems: [{ path: '0.wait.match', message }] });
      told.with(given('0', { x: value, y: value, z: true }));
      told.with(found(event('x'), event('y'), event('z'))).go();
      expect(told.running).toEqual(['a']);
    },
  );

  it('asks first for results that are kept as attachments', () => {
    const told = begun(['a', matching]).did('a', { big: true }).at(5);
    const [first, second] = told.steps;
    const aside = { $attachment: 'result-0-1.json', bytes: 70_000 };
    const _attachments = { 'result-0-1.json': { stub: true } };
    told.edit({ _attachments, steps: [{ ...first, result: aside }, second] });
    const intent = told.decide(told.job, found(event('x')));
    expect(intent).toMatchObject({
      kind: 'look_up',
      attachments: ['result-0-1.json'],
      questions: [],
    });
  });

  it('asks about events that have no revision', () => {
    const told = begun([matching]).at(5);
    expect(told.decide(told.job, found({ id: 'x' }))).toMatchObject({
      questions: [{ id: '0.wait.match x ' }],
    });
  });
});
