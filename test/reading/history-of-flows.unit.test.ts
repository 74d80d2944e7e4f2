import { describe, expect, it } from 'vitest';
import { historyOf } from '../../src/reading/history.js';
import { t0, task } from '../support/builders.js';
import { begun, type Story } from '../decide/story.js';

/** The history as lines: time after the start, level, kind, path, name. */
function lines({ job }: Story): readonly string[] {
  return historyOf(job).map(({ at, level, kind, path = '', name = '' }) =>
    `${at - t0} ${level} ${kind} ${path} ${name}`.replace(/\s+/g, ' ').trim(),
  );
}

const started = '0 service JobStarted';
const scheduled = (path: string, name: string, at = 0): readonly string[] => [
  `${at} activity StepScheduled ${path} ${name}`,
  `${at} activity StepStarted ${path} ${name}`,
];

const boss = { world: { plugins: ['boss'] } };

const cases: readonly (readonly [string, () => Story, readonly string[]])[] = [
  [
    'a sequence with a retry and a step that is left out',
    () => {
      const told = begun([
        { task: 'a', retry: { limit: 1, delay: 10 } },
        { task: 'b', when: 'no' },
      ]);
      told.answering({ '1.when': false }).at(5).broke('a').at(15).go();
      return told.at(20).did('a');
    },
    [
      started,
      ...scheduled('0', 'a'),
      '5 activity StepFailed 0 a',
      ...scheduled('0', 'a', 15),
      '20 activity StepCompleted 0 a',
      '20 activity StepSkipped 1 b',
      '20 service JobCompleted',
    ],
  ],
  [
    'steps beside each other',
    () =>
      begun([{ parallel: ['a', 'b'] }])
        .at(3)
        .did('b')
        .at(4)
        .did('a'),
    [
      started,
      ...scheduled('0.parallel.0', 'a'),
      ...scheduled('0.parallel.1', 'b'),
      '3 activity StepCompleted 0.parallel.1 b',
      '4 activity StepCompleted 0.parallel.0 a',
      '4 service JobCompleted',
    ],
  ],
  [
    'a graph of which a part fails, with a handler',
    () =>
      begun([{ graph: { x: 'a', y: { task: 'b', after: ['x'] } } }], { flow: { error: 'h' } })
        .at(2)
        .broke('a')
        .at(3)
        .did('h'),
    [
      started,
      ...scheduled('0.graph.x', 'a'),
      '2 activity StepFailed 0.graph.x a',
      ...scheduled('error', 'h', 2),
      '3 activity StepCompleted error h',
      '3 service JobFailed',
    ],
  ],
  [
    'a choice',
    () => {
      const told = begun([{ choice: [{ when: 'yes', then: 'a' }] }]);
      told.answering({ '0.choice[0].when': true }).go();
      return told.at(2).did('a');
    },
    [
      started,
      '0 decider StructureDecided 0 choice',
      ...scheduled('0.choice.0', 'a'),
      '2 activity StepCompleted 0.choice.0 a',
      '2 service JobCompleted',
    ],
  ],
  [
    'a timer',
    () => {
      const told = begun([{ delay: 50, name: 'nap' }]).at(50);
      told.go();
      return told;
    },
    [
      started,
      '0 service TimerStarted 0 nap',
      '50 service TimerFired 0 nap',
      '50 service JobCompleted',
    ],
  ],
  [
    'a wait for a signal',
    () =>
      begun([{ wait: { signal: 'ok' }, name: 'ask' }])
        .at(9)
        .signal('ok', { by: 'ann' }),
    [
      started,
      '0 external WaitStarted 0 ask',
      '9 external SignalReceived ok',
      '9 external WaitCompleted 0 ask',
      '9 service JobCompleted',
    ],
  ],
  [
    'a wait in vain',
    () => {
      const told = begun([{ wait: { signal: 'ok', timeout: 30 }, name: 'ask' }]).at(30);
      told.go();
      return told;
    },
    [
      started,
      '0 external WaitStarted 0 ask',
      '30 external WaitTimedOut 0 ask',
      '30 service JobFailed',
    ],
  ],
  [
    'a child job',
    () => {
      const told = begun([{ flow: 'g', name: 'sub' }]);
      const id = String(told.last['child']);
      const job = {
        _id: id,
        _rev: '9',
        type: 'job',
        state: '$$complete',
        exit: 0,
        steps: [],
      } as const;
      told
        .at(7)
        .with({ children: { [id]: { kind: 'final', job } } })
        .go();
      return told;
    },
    [
      started,
      '0 activity ChildStarted 0 sub',
      '7 activity ChildCompleted 0 sub',
      '7 service JobCompleted',
    ],
  ],
  [
    'a decider with markers',
    () =>
      begun([{ decider: 'boss', name: 'lead' }], boss)
        .at(4)
        .did('boss', [
          { record_marker: 'first', details: { n: 1 } },
          { record_marker: 'second' },
          { complete: 1 },
        ]),
    [
      started,
      '0 decider DecisionScheduled 0.decision.0 lead',
      '0 decider DecisionStarted 0.decision.0 lead',
      '4 decider DecisionCompleted 0.decision.0 lead',
      '4 decider MarkerRecorded 0.decision.0 first',
      '4 decider MarkerRecorded 0.decision.0 second',
      '4 service JobCompleted',
    ],
  ],
  [
    'what a decider asks for and cannot have',
    () => {
      const told = begun([{ decider: 'boss', name: 'lead' }], boss);
      told
        .at(1)
        .did('boss', [
          { start_timer: 9, id: 't' },
          { start_timer: 3, id: 't' },
          { cancel: 'nobody' },
        ]);
      told.at(2).did('boss', [{ record_marker: 'wait' }]);
      told.at(10).go();
      return told.at(12).did('boss', [{ cancel: 't' }, { complete: 1 }]);
    },
    [
      started,
      '0 decider DecisionScheduled 0.decision.0 lead',
      '0 decider DecisionStarted 0.decision.0 lead',
      '1 decider DecisionCompleted 0.decision.0 lead',
      '1 decider StartRefused 0.decision.0 t',
      '1 decider CancelRefused 0.decision.0 nobody',
      '1 service TimerStarted 0.timer.t t',
      '1 decider DecisionScheduled 0.decision.1 lead',
      '1 decider DecisionStarted 0.decision.1 lead',
      '2 decider DecisionCompleted 0.decision.1 lead',
      '2 decider MarkerRecorded 0.decision.1 wait',
      '10 service TimerFired 0.timer.t t',
      '10 decider DecisionScheduled 0.decision.2 lead',
      '10 decider DecisionStarted 0.decision.2 lead',
      '12 decider DecisionCompleted 0.decision.2 lead',
      '12 decider CancelRefused 0.decision.2 t',
      '12 service JobCompleted',
    ],
  ],
  [
    'requests and remarks of people',
    () => {
      const told = begun(['a']).at(3).ask('note', { text: 'look', by: 'ann' });
      return told.at(6).ask('cancel', { by: 'ann' }).at(8).stopped();
    },
    [
      started,
      ...scheduled('0', 'a'),
      '3 external RequestApplied note',
      '3 external NoteAdded',
      '6 external RequestApplied cancel',
      '8 activity StepCancelled 0 a',
      '8 service JobCancelled',
    ],
  ],
];

describe('the history of a flow', () => {
  // Shows H-03, K-01, K-02.
  it.each(cases)('tells %s in order, with level and time', (_title, story, expected) => {
    expect(lines(story())).toEqual(expected);
  });

  it('tells of a refused cancel only when there was nothing left to cancel', () => {
    const told = begun([{ decider: 'boss', name: 'lead' }], boss).at(1);
    told.did('boss', [
      { start_timer: 9, id: 't' },
      { start_timer: 2, id: 'u' },
    ]);
    told.at(3).go();
    told.did('boss', [{ cancel: 't' }]);
    told.at(4).did('boss', [{ cancel: 't' }]);
    const about = lines(told).filter((line) => /Cancel/.test(line));
    expect(about).toEqual([
      '3 service TimerCancelled 0.timer.t t',
      '4 decider CancelRefused 0.decision.2 t',
    ]);
  });

  it('tells what a structure found out', () => {
    const told = begun([{ map: { over: 'params.list', do: 'a' }, name: 'all' }]);
    told.answering({ '0.map.over': [1, 2] }).go();
    told.at(2).did('0.map.0').at(3).did('0.map.1');
    expect(lines(told)).toContain('0 decider StructureDecided 0 all');
    expect(lines(told).at(-1)).toBe('3 service JobCompleted');
  });

  it('numbers the events and carries what came with them', () => {
    const told = begun([{ decider: 'boss', name: 'lead' }], boss);
    told.did('boss', [{ record_marker: 'note', details: { n: 1 } }, { complete: 1 }]);
    const events = historyOf(told.job);
    expect(events.map(({ id }) => id)).toEqual(events.map((_event, i) => i + 1));
    expect(events.find(({ kind }) => kind === 'MarkerRecorded')?.data).toEqual({ n: 1 });
    expect(events.find(({ kind }) => kind === 'DecisionStarted')?.engine).toBe('me');
  });

  it('ends where it is asked to end', () => {
    const told = begun(['a', 'b']).at(5).did('a').at(9).did('b');
    expect(historyOf(told.job, t0 + 4)).toHaveLength(3);
  });

  it('of a job that has not begun is empty', () => {
    expect(historyOf({ _id: 'j', _rev: '1', type: 'job', flow: 'f' })).toEqual([]);
  });

  it('keeps the failure of a step and when it is tried again', () => {
    const told = begun(['a'], { tasks: [task('a', { retry: { limit: 1, delay: 70 } })] });
    told.broke('a');
    expect(historyOf(told.job).at(-1)).toMatchObject({
      kind: 'StepFailed',
      data: { failure: { name: 'Broken' }, next_attempt: t0 + 70 },
    });
  });
});
