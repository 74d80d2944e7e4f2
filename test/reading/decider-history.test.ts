import { describe, expect, it } from 'vitest';
import { historyForDecision } from '../../src/reading/decider-history.js';
import { task } from '../support/builders.js';
import { story, type Story } from '../decide/story.js';

/** The news of the decision that runs at a path, as `kind path`. */
function newsAt(told: Story, path: string): readonly string[] {
  const step = told.steps.findLast((one) => one.path === path);
  if (step === undefined) throw new Error(`Nothing is at ${path}.`);
  return historyForDecision(told.job as never, step)
    .filter(({ news }) => news === true)
    .map((event) => [event.kind, event.path ?? event.name ?? ''].join(' ').trim());
}

function deciding(steps: readonly unknown[]): Story {
  const told = story({ steps: steps as never, tasks: [task('boss'), task('chief')] });
  told.go();
  return told;
}

describe('the history of a decision', () => {
  // Shows H-03.
  it('marks what came since the decision before, and what could not be done of that', () => {
    const told = deciding([{ decider: 'boss' }]);
    expect(newsAt(told, '0.decision.0')).toEqual(['JobStarted']);
    told
      .at(1)
      .did('boss', [
        { start_timer: 9, id: 't' },
        { start_timer: 3, id: 't' },
        { record_marker: 'note' },
      ]);
    expect(newsAt(told, '0.decision.1')).toEqual([
      'StartRefused 0.decision.0',
      'TimerStarted 0.timer.t',
    ]);
    told.at(2).did('boss', []);
    told.at(10).go();
    expect(newsAt(told, '0.decision.2')).toEqual(['TimerFired 0.timer.t']);
    told.at(12).did('boss', [{ cancel: 't' }]);
    expect(newsAt(told, '0.decision.3')).toEqual(['CancelRefused 0.decision.2']);
  });

  it('marks a signal, also one of the millisecond in which the decision before began', () => {
    const told = deciding([{ decider: 'boss' }]);
    told.at(5).did('boss', []);
    told.signal('go', { n: 1 });
    told.go();
    const { job, steps } = told;
    const step = steps.findLast(({ path }) => path === '0.decision.1');
    if (step === undefined) throw new Error('The signal led to no decision.');
    const kinds = (signalAt: number, start: number): readonly string[] => {
      const [first, ...rest] = steps;
      const doc = {
        ...job,
        signals: [{ id: 's', name: 'go', at: signalAt }],
        steps: [{ ...first, start }, ...rest],
      };
      return historyForDecision(doc as never, step)
        .filter(({ news, kind }) => news === true && kind === 'SignalReceived')
        .map(({ kind }) => kind);
    };
    const now = Number(step['start']);
    expect(kinds(now, now)).toEqual(['SignalReceived']);
    expect(kinds(now - 1, now)).toEqual([]);
  });

  it('marks for each of several deciders what it began, and nothing of the other', () => {
    const told = deciding([{ parallel: [{ decider: 'boss' }, { decider: 'chief' }] }]);
    told.at(1).did('boss', [{ start_timer: 4, id: 't' }]);
    told.at(2).did('chief', [{ start_timer: 5, id: 'u' }]);
    told.at(6).go();
    expect(newsAt(told, '0.parallel.0.decision.1')).toEqual([
      'TimerStarted 0.parallel.0.timer.t',
      'TimerFired 0.parallel.0.timer.t',
    ]);
  });
});
