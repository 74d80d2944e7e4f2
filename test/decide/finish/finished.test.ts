import { describe, expect, it } from 'vitest';
import { endings, story, type Setting, type Story } from '../story.js';

const racing = (finish: unknown, more: Partial<Setting> = {}): Story => {
  const told = story({
    steps: [{ parallel: ['a', { wait: { signal: 's' } }, ['b', { finish }]] }, 'c'],
    world: { freeSlots: 2 },
    ...more,
  });
  told.go();
  return told;
};

describe('a flow that is finished early', () => {
  // Shows X-53.
  it('F8: begins nothing more, ends what waits, and waits for what runs', () => {
    const told = racing({ result: { got: '{{results.b}}' } }).did('b', 5);
    expect(told.open).toEqual(['0.parallel.0']);
    expect(told.steps.find((step) => step['finishes'] === true)).toMatchObject({
      path: '0.parallel.2.sequence.1',
    });
    expect(told.decide()).toMatchObject({
      kind: 'abort',
      because: 'Step finish finished the flow.',
    });
    const elsewhere = { running: [], peers: [] };
    expect(
      told.decide(told.job, {
        ...elsewhere,
        stopping: [told.liveAt('a').claim],
        running: [told.liveAt('a').claim],
      }),
    ).toMatchObject({
      kind: 'wait',
      because: 'Step finish finished the flow. Step a still runs.',
    });
    told.stopped();
    expect(told.ending).toEqual(endings.well);
    expect(told.job).toMatchObject({ result: { got: 5 } });
    expect(told.trail).toContain('wait#1 $$cancelled');
  });

  it('ends with the exit that it says, and its failure', () => {
    const told = racing({ exit: 7, result: 'no' }).did('b').stopped();
    expect(told.ending).toEqual({ state: '$$complete', exit: 7, failure: 'FinishedWith' });
    expect(told.job).toMatchObject({ result: 'no', failure: { step: 'finish' } });
  });

  it('has the output of the flow as its result when it says none', () => {
    const told = story({ steps: [{ finish: true }, 'a'], flow: { output: '1' } });
    told.answering({ output: 1 }).go();
    expect(told.job).toMatchObject({ exit: 0, result: 1 });
    const plain = story({ steps: [{ finish: true }, 'a'] });
    plain.go();
    expect(plain.ending).toEqual(endings.well);
  });

  it('goes on when the step is left out', () => {
    const told = story({ steps: [{ finish: true, when: 'x' }, 'a'] });
    told.answering({ '0.when': false }).go();
    expect(told.running).toEqual(['a']);
  });

  it('fails when its result cannot be filled in', () => {
    const told = story({ steps: [{ finish: { result: '{{none}}' } }] });
    told.go();
    expect(told.ending).toMatchObject({ exit: 3, failure: 'TemplateError' });
  });

  it('F9: is cancelled like any other', () => {
    const told = racing(true).did('b');
    told.edit({ cancel: true }).stopped();
    expect(told.ending).toMatchObject({ exit: 130 });
  });

  it('undoes and handles nothing', () => {
    const told = story({
      steps: [{ task: 'a', undo: 'u' }, { finish: { exit: 2 } }],
      flow: { error: 'h', retry: 2 },
    });
    told.go();
    expect(told.did('a').trail).toEqual(['a#1 $$complete', 'finish#1 $$complete']);
    told.ask('retry');
    expect(told.trail).toEqual(['a#1 $$complete', 'finish#1 $$complete', 'finish#2 $$complete']);
  });

  it('goes on when somebody takes the step out', () => {
    const told = racing(true).did('b');
    const steps = told.steps.filter(({ task }) => task !== 'finish');
    told.write({ steps }).go();
    expect(told.trail).toContain('finish#1 $$complete');
  });
});
