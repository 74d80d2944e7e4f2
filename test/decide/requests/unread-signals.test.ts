import { describe, expect, it } from 'vitest';
import { receive } from '../../../src/decide/requests/command.js';
import { initialise } from '../../../src/decide/start/initialise.js';
import { unreadSignal } from '../../../src/decide/requests/unread.js';
import type { LiveJob, NewJob } from '../../../src/model/job.js';
import type { Problem } from '../../../src/model/problems.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import {
  flow,
  liveJob,
  newJob,
  t0,
  task,
  world,
  type FlowOptions,
} from '../../support/builders.js';

const waitFor = (signal: string): WrittenNode => ({ wait: { signal } });
const tell = (job: LiveJob, ...names: readonly string[]): readonly Problem[] => {
  const told = names.reduce((before, name, i) => {
    const said = receive(before, { _id: `s${i}`, type: 'signal', job: 'j', name }, t0);
    if (said.kind !== 'applied') throw new Error(said.kind);
    return said.job as LiveJob;
  }, job);
  return told.problems ?? [];
};
const message = (name: string, rest: string) =>
  `signals: nothing in this job waits for the signal "${name}"; ${rest}`;

describe('a signal that nothing reads', () => {
  it.each<readonly [string, readonly WrittenNode[], string]>([
    ['no wait', ['a'], 'it has no step that waits for a signal.'],
    ['a wait of a similar name', [waitFor('aproved')], 'did you mean "aproved"?'],
    ['waits of other names', [waitFor('go'), waitFor('no')], 'it waits for "go", "no".'],
    [
      'many waits',
      ['1', '2', '3', '4', '5', '6', '7'].map(waitFor),
      'it waits for "1", "2", "3", "4", "5" and 2 more.',
    ],
    ['an event of that name', [{ wait: { event: 'approved' } }], 'it has no step that waits'],
  ])('is told in a job with %s', (_title, tasks, rest) => {
    const [told, ...more] = tell(liveJob(flow([...tasks])), 'approved');
    expect(more).toEqual([]);
    expect(told?.path).toBe('signals');
    expect(told?.message).toContain(message('approved', rest));
  });

  it('is told once for each name, and for a limited number of names', () => {
    const job = liveJob(flow(['a']));
    expect(tell(job, 'x', 'x', 'y', 'x').map((one) => one.message)).toEqual([
      message('x', 'it has no step that waits for a signal.'),
      message('y', 'it has no step that waits for a signal.'),
    ]);
    const names = Array.from({ length: 50 }, (_, i) => `n${i}`);
    expect(tell(job, ...names)).toHaveLength(20);
  });

  it('is told when the job begins, when it came before', () => {
    const signals = ['x', 'go', 'x'].map((name, i) => ({ id: `s${i}`, name, at: t0 }));
    const found = flow([waitFor('go')]);
    const move = initialise(newJob({ signals }), t0, world({ flows: [found] }));
    expect(move).toMatchObject({
      job: { problems: [{ path: 'signals', message: message('x', 'it waits for "go".') }] },
    });
  });

  it.each([{}, 'x', [null], [{}], [{ name: 5 }]])(
    'is not looked for in signals that are %j',
    (signals) => {
      const found = flow(['a']);
      const move = initialise(
        { ...newJob(), signals } as NewJob,
        t0,
        world({ flows: [found], tasks: [task('a')] }),
      );
      expect(move).toMatchObject({ job: { state: '$$ready' } });
      expect(move).not.toHaveProperty('job.problems');
    },
  );

  it('stays beside what the job tells already', () => {
    const problems = [{ path: 'a', message: 'a is odd.' }];
    expect(tell({ ...liveJob(flow(['a'])), problems }, 'x')).toMatchObject([{ path: 'a' }, {}]);
  });
});

describe('a signal that something reads, or may read,', () => {
  const decider = { decider: 'd' };
  it.each<readonly [string, readonly WrittenNode[], FlowOptions]>([
    ['a wait', [waitFor('approved')], {}],
    ['a wait within structures', [{ parallel: ['a', { sequence: [waitFor('approved')] }] }], {}],
    ['a wait of the error branch', ['a'], { error: [waitFor('approved')] }],
    ['a wait of the cancel branch', ['a'], { cancel: [waitFor('approved')] }],
    ['a wait whose name is a template', [waitFor('{{params.name}}')], {}],
    ['a wait whose name is a template in brackets', [waitFor('[[name]]')], {}],
    ['a decider', [decider], {}],
    ['a condition on the signals', [{ task: 'a', when: 'job.signals[0].data' }], {}],
  ])('is not told: %s', (_title, tasks, more) => {
    const found = flow([...tasks], more);
    const job = liveJob(found, { tasks: [task('a'), task('d')] });
    expect(tell(job, 'approved')).toEqual([]);
  });

  it.each(['work/default/000/0000000000000001/x', 'lease/x'])(
    'is not told for work that is answered late: %s',
    (name) => expect(tell(liveJob(flow(['a'])), name)).toEqual([]),
  );

  it('is not told while a step waits for it, whatever the flow says', () => {
    const job = liveJob(flow(['a']));
    const step = { task: 'a', name: 'a', path: '0', state: '$$waiting', signal: 'odd' };
    const waiting = { ...job, steps: [step] } as unknown as LiveJob;
    expect(unreadSignal(waiting, 'odd')).toBeUndefined();
  });
});
