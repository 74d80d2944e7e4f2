import { describe, expect, it } from 'vitest';
import { planResolution } from '../../../src/replicas/resolve/conflict.js';
import { withForeignSteps } from '../../../src/replicas/resolve/foreign-steps.js';
import { mergeRevision } from '../../../src/replicas/resolve/merge.js';
import { isOver, type LeafRevision } from '../../../src/replicas/resolve/leaf-revisions.js';
import {
  isHeld,
  withNotes,
  withMergedRequests,
} from '../../../src/replicas/resolve/merged-requests.js';
import { command } from '../../../src/decide/requests/command.js';
import { withEdits } from '../../../src/decide/requests/edits.js';
import type { Job } from '../../../src/model/job.js';
import type { JobRequest } from '../../../src/model/request.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { flow, t0, tasksOf } from '../../support/builders.js';
import { begun } from '../../decide/story.js';
import { attempt, told, leaf } from './leaves.js';

const asked = (id: string, action: string) => ({ id, action, at: 1 });

describe('what users asked of the other revision', () => {
  it('leaves a job alone when nothing was asked', () => {
    const job = leaf('2-a', []);
    expect(withMergedRequests(job, leaf('2-b', [], { cancel: false, requests: 'none' }))).toBe(job);
  });

  it('takes over what a signal has left in an attachment', () => {
    const name = 'result-0-1.json';
    const data = { $attachment: name, bytes: 70_000 };
    const signals = [
      { id: 's1', name: 'lease/1', at: 1, data },
      { id: 's2', name: 'go', at: 1, data: { $attachment: 7 } },
    ];
    const other = leaf('2-b', [], { signals, _attachments: { [name]: { stub: true } } });
    expect(withMergedRequests(leaf('2-a', []), other)).toMatchObject({
      signals,
      _attachments: { [name]: { from: '2-b', stub: true } },
    });
  });

  it('W2: keeps an edit once that two engines have put on record', () => {
    const edited = { paused: true, cancel: true };
    const one = withEdits(leaf('2-a', [], edited), 1);
    const other = withEdits(leaf('2-b', [], { ...edited, note: 1 }), 2);
    expect(withMergedRequests(one, other)).toEqual(one);
  });

  it.each([
    ['goes on', {}],
    ['is final', { state: '$$complete' }],
  ])('refuses a retry of a job that has not ended, also where the winner %s', (_title, more) => {
    const next = withMergedRequests(leaf('2-a', [], more), leaf('2-b', [], { retry: true }));
    const refused = 'Job j has not ended; only a job that has ended can be retried.';
    expect(next['requests']).toMatchObject([{ action: 'retry', refused }]);
    expect(next).not.toHaveProperty('retry');
  });

  it.each([
    ['a cancel is kept', {}, { cancel: { by: 'ann' } }, { cancel: { by: 'ann' } }],
    ['a cancel of its own stays', { cancel: true }, { cancel: { by: 'ann' } }, { cancel: true }],
    [
      'a pause is applied',
      {},
      { paused: true, requests: [asked('1', 'pause')] },
      { paused: true, requests: [asked('1', 'pause')] },
    ],
    [
      'the last of pause and resume counts',
      { paused: true, requests: [asked('1', 'pause')] },
      { cancel: {}, requests: [asked('1', 'pause'), asked('2', 'resume'), asked('3', 'cancel')] },
      {
        paused: false,
        requests: [asked('1', 'pause'), asked('2', 'resume'), asked('3', 'cancel')],
      },
    ],
    [
      'what was applied here already is not applied again',
      { paused: false, requests: [asked('1', 'pause'), null] },
      { paused: true, requests: [asked('1', 'pause')] },
      { paused: false, requests: [asked('1', 'pause'), null] },
    ],
    [
      'a signal that came there has come',
      { signals: [{ id: 's1', name: 'go', at: 1 }] },
      {
        signals: [
          { id: 's1', name: 'go', at: 1 },
          { id: 's2', name: 'go', at: 2 },
        ],
      },
      {
        signals: [
          { id: 's1', name: 'go', at: 1 },
          { id: 's2', name: 'go', at: 2 },
        ],
      },
    ],
    [
      'a note is kept, once',
      { notes: [{ text: 'a', at: 1 }] },
      {
        notes: [
          { text: 'a', at: 1 },
          { text: 'a', at: 2, by: 'ann' },
        ],
      },
      {
        notes: [
          { text: 'a', at: 1 },
          { text: 'a', at: 2, by: 'ann' },
        ],
      },
    ],
  ])('%s', (_title, mine, other, expected) => {
    const next = withMergedRequests(leaf('2-a', [], mine), leaf('2-b', [], other));
    expect(next).toMatchObject(expected);
    expect(next._rev).toBe('2-a');
  });

  it.each([
    [{}, false],
    [{ paused: true }, true],
    [{ cancel: true }, true],
    [{ paused: false, cancel: false }, false],
  ])('%j holds the job: %s', (wish, held) => {
    expect(isHeld(leaf('2-a', [], wish))).toBe(held);
  });
});

type Asked = Partial<JobRequest> & Pick<JobRequest, 'action'>;

/** The revision of a job that a request makes, the only one that tells of it. */
function asking(job: Job, rev: string, asked: Asked) {
  const request = { _id: 'r', type: 'request', job: job._id, ...asked } as const;
  const commanded = command(job, request, t0 + 50);
  if (commanded.kind !== 'applied') throw new Error(commanded.kind);
  return { ...commanded.job, _rev: rev } as unknown as LeafRevision;
}

const at = (job: Job, rev: string, more = {}): LeafRevision => ({ ...job, _rev: rev, ...more });
const wait: WrittenNode = { wait: { signal: 'go' }, name: 'w' };

/** Nothing of the job has begun yet. */
function unclaimed(job: Job): Job {
  return { ...job, state: '$$ready', steps: [] } as unknown as Job;
}

describe('M4: a skip that only a losing revision tells of', () => {
  it.each<[string, WrittenNode[], string, readonly string[]]>([
    ['ends the waiting step', [wait, 'b'], 'w', ['0#1 $$cancelled', '0#2 $$skipped']],
    ['ends the running step', ['a', 'b'], 'a', ['0#1 $$cancelled', '0#2 $$skipped']],
    ['leaves out a step to come', ['a', 'b'], 'b', ['0#1 $$active', '1#1 $$skipped']],
  ])('%s', (_title, steps, step, expected) => {
    const { job } = begun(steps);
    const loser = asking(job, '4-a', { action: 'skip', step });
    const resolution = planResolution([at(job, '4-b', { next_due: 9 }), loser], () => 'elsewhere');
    expect(resolution?.drop).toEqual([loser]);
    expect(resolution?.next).toMatchObject({ _rev: '4-b', requests: loser['requests'] });
    expect(resolution?.next).not.toHaveProperty('next_due');
    const shown = told(resolution?.next as LeafRevision).map((text) =>
      text.split(' ').slice(0, 2).join(' '),
    );
    expect(shown).toEqual(expected);
  });

  it('does not wait for what else may be running', () => {
    const often = { task: 'a', retry: { limit: 3, delay: 0 } };
    const story = begun([{ parallel: [often, wait] }, 'c']);
    const loser = asking(story.job, '4-a', { action: 'skip', step: 'w' });
    story.with({ nonce: 'other' }).broke('a');
    expect(story.last).toMatchObject({ path: '0.parallel.0', attempt: 2, state: '$$active' });
    const resolution = planResolution([at(story.job, '5-b'), loser], () => 'elsewhere');
    expect(resolution?.drop).toEqual([loser]);
    expect(told(resolution?.next as LeafRevision).at(-1)).toBe('0.parallel.1#2 $$skipped');
  });

  it('lets a failed job go on', () => {
    const { job } = begun(['a', 'b']).broke('a');
    expect(isOver(at(job, '4-b'))).toBe(true);
    const loser = asking(job, '4-a', { action: 'skip', step: 'a' });
    const resolution = planResolution([at(job, '4-b'), loser], () => 'elsewhere');
    expect(resolution?.next).toEqual({ ...loser, _rev: '4-b' });
  });

  it.each<[string, Asked, Readonly<Record<string, unknown>>]>([
    ['a skip', { action: 'skip', step: 'b' }, {}],
    ['a skip beside a note', { action: 'skip', step: 'b' }, { requests: [asked('7', 'note')] }],
    ['a retry', { action: 'retry', params: { b: { n: 1 } } }, { notes: [{ text: 'x' }] }],
  ])('has effect when nobody has begun the winner: %s', (_what, request, more) => {
    const story = begun(['a', 'b']);
    const job = request.action === 'retry' ? story.broke('a').job : unclaimed(story.job);
    const loser = asking(job, '4-a', request);
    const { type, flow, owner } = job as unknown as LeafRevision;
    const winner: LeafRevision = { _id: job._id, _rev: '4-b', type, flow, owner, ...more };
    const resolution = planResolution([winner, loser], () => 'elsewhere');
    expect(resolution?.drop).toEqual([loser]);
    const { requests = [], ...own } = more;
    const all = [loser['requests'], requests].flat();
    expect(resolution?.next).toEqual({ ...loser, ...own, _rev: '4-b', requests: all });
  });

  const [pause, resume, later] = [asked('p', 'pause'), asked('q', 'resume'), asked('p2', 'pause')];
  it.each([
    ['the same pause once', [pause], [pause], true],
    ['a resume of it', [pause], [pause, resume], false],
    ['a pause after a resume', [pause, resume], [later], true],
  ])('is on record beside what nobody has begun tells: %s', (_what, there, here, paused) => {
    const isPaused = (requests: readonly { action: string }[]): boolean =>
      requests.at(-1)?.action === 'pause';
    const { job } = begun(['a', 'b']);
    const known = { ...unclaimed(job), requests: there, paused: isPaused(there) };
    const loser = asking(known, '4-a', { action: 'skip', step: 'b' });
    const { type, flow, owner } = job as unknown as LeafRevision;
    const raw = { _id: job._id, _rev: '4-b', type, flow, owner, requests: here };
    const next = planResolution([{ ...raw, paused: isPaused(here) }, loser], () => 'elsewhere')
      ?.next as LeafRevision;
    expect(next['paused']).toBe(paused);
    const ids = (next['requests'] as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    expect(new Set(ids)).toEqual(new Set([...there, ...here].map(({ id }) => id).concat('r')));
  });

  it('is on record only where nobody has begun either', () => {
    const winner: LeafRevision = { _id: 'j', _rev: '4-b', type: 'job', flow: 'f', paused: true };
    const requests = [asked('7', 'retry')];
    const loser = { ...winner, _rev: '4-a', paused: false, requests };
    const resolution = planResolution([winner, loser], () => 'elsewhere');
    expect(resolution?.next).toEqual({ ...winner, requests });
  });

  it('is on record only where the step is done already', () => {
    const story = begun(['a', 'b']);
    const loser = asking(story.job, '4-a', { action: 'skip', step: 'a' });
    story.did('a');
    const resolution = planResolution([at(story.job, '5-b'), loser], () => 'elsewhere');
    expect(resolution?.next).toMatchObject({ steps: story.steps, requests: loser['requests'] });
  });
});

describe('M4: a retry that only a losing revision tells of', () => {
  const failed = begun(['a', 'b']).did('a').broke('b').job;
  const wishes: readonly Partial<JobRequest>[] = [
    {},
    { from: 'a' },
    { params: { b: { n: 1 } }, by: 'ann', reason: 'typo' },
    { latest: true },
    { _rev: '3-c' },
  ];
  it.each(wishes)('opens the job again, as asked: %j', (wish) => {
    const loser = asking(failed, '4-a', { action: 'retry', ...wish });
    const resolution = planResolution([at(failed, '4-b'), loser], () => 'elsewhere');
    expect(resolution).toEqual({ next: { ...loser, _rev: '4-b' }, drop: [loser], orphans: [] });
  });

  it('opens the job again with what ran there since', () => {
    const opened = asking(failed, '5-a', { action: 'retry' });
    const loser = { ...opened, steps: [...(opened['steps'] as []), attempt('1#2 $$active z')] };
    expect(planResolution([at(failed, '5-b'), loser], () => 'elsewhere')).toBeUndefined();
    const resolution = planResolution([at(failed, '5-b'), loser], () => 'runs');
    expect(resolution?.next).toMatchObject({ run: 2, steps: loser.steps });
  });

  it('begins the new run also in a job that has not heard of the end', () => {
    const running = begun(['a', 'b']).did('a').job;
    const loser = asking(failed, '5-a', { action: 'retry', from: 'a', params: { a: { n: 1 } } });
    const next = withMergedRequests(at(running, '5-b'), loser);
    const { run, redo, params, timed_from } = loser;
    expect(next).toMatchObject({ run, redo, params, timed_from, requests: loser['requests'] });
    expect(run).toBe(2);
  });

  it('keeps the run of a job that goes on, when another leaf begins from nothing', () => {
    const running = begun(['a', 'b']).did('a').job;
    const requests = [asked('1', 'retry')];
    const loser = leaf('5-a', [], { requests, state: undefined, run: undefined });
    expect(withMergedRequests(at(running, '5-b'), loser)).toMatchObject({ run: 1, requests });
    const unbegun = leaf('5-b', [], { state: '$$ready', run: undefined });
    expect(withMergedRequests(unbegun, loser)).toMatchObject({ run: undefined, requests });
  });

  it.each([
    ['a job that has not begun', { state: undefined }],
    ['what is no job', { type: 'memo', state: '$$complete' }],
  ])('is on record in %s', (_title, more) => {
    const requests = [asked('1', 'retry')];
    const next = withMergedRequests(leaf('2-b', [], more), leaf('2-a', [], { requests, run: 2 }));
    expect(next).toMatchObject({ run: 1, requests });
  });

  it('is on record when it cannot be read', () => {
    const requests = [{ id: 'r', action: 'retry', from: 1, at: 1 }];
    const next = withMergedRequests(at(failed, '4-b'), leaf('4-a', [], { requests }));
    expect(next).toEqual({ ...at(failed, '4-b'), requests });
  });
});

describe('M4: a move to another version that only a losing revision tells of', () => {
  /** A job of version 1 at `b`, and the same one after moves to flows of these steps, of versions 2, 3 …. */
  function movedTo(...flows: readonly WrittenNode[][]) {
    const story = begun(['a', 'b', 'c'], { flow: { version: '1' } }).did('a');
    const { job } = story;
    for (const [n, steps] of flows.entries()) {
      const version = String(n + 2);
      const next = { ...flow(steps, { version }), _rev: `1-v${version}` };
      story
        .with({ flows: [story.flow, next], tasks: tasksOf(next) })
        .ask('migrate', { to: version });
    }
    return { job, loser: at(story.job, '5-a') };
  }

  it('is made again, by the definitions that the other one went by', () => {
    const { job, loser } = movedTo(['a', 'b', 'x', 'y']);
    const winner = at(job, '5-b', { next_due: 9 });
    const resolution = planResolution([winner, loser], () => 'elsewhere');
    expect(resolution).toEqual({ next: { ...loser, _rev: '5-b' }, drop: [loser], orphans: [] });
  });

  it('is refused on record where the winner has done what has no place in it', () => {
    const { loser } = movedTo(['a', 'b', 'x']);
    const winner = begun(['a', 'b', 'c'], { flow: { version: '1' } })
      .did('a')
      .did('b').job;
    const next = withMergedRequests(at(winner, '6-b'), loser);
    const [record] = loser['requests'] as [object];
    const refused =
      'Copies of job j were merged, and the one that counts cannot move any more. Ask for it again.';
    expect(next).toEqual({ ...winner, _rev: '6-b', requests: [{ ...record, refused }] });
  });

  it('is told in the job where the other one has begun what has no place in the winner', () => {
    const before = begun(['a', 'b', 'c'], { flow: { version: '1' } }).did('a');
    const { job } = before;
    const next = { ...flow(['a', 'b', 'x'], { version: '2' }), _rev: '1-v2' };
    before.with({ flows: [before.flow, next], tasks: tasksOf(next) }).ask('migrate', { to: '2' });
    const winner = at(before.job, '6-b');
    const old = begun(['a', 'b', 'c'], { flow: { version: '1' } })
      .did('a')
      .did('b').job;
    const loser = at({ ...old, requests: [] } as unknown as Job, '6-a');
    const merged = mergeRevision(winner, loser, () => 'lost');
    expect(told(merged as LeafRevision)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^2#1 /)]),
    );
    expect(merged?.['problems']).toMatchObject([
      {
        path: 'steps',
        message:
          'Step 2 (c) was begun by the flow version "1" in another copy of the job. This copy goes by the flow version "2", which has x there. The attempt is kept, and the job goes on by the flow version "2".',
      },
    ]);
    expect(merged).toMatchObject({ flow_version: '2', tasks: winner['tasks'] });
    const again = mergeRevision(merged as LeafRevision, loser, () => 'lost');
    expect(again?.['problems']).toEqual(merged?.['problems']);
    expect(mergeRevision(at(job, '5-b'), at(job, '5-a'), () => 'lost')).not.toHaveProperty(
      'problems',
    );
  });

  it('tells of steps of another definition once, and only in a job that goes on', () => {
    const winner = at(begun(['a'], { flow: { version: '2' } }).job, '6-b', { flow_rev: '1-two' });
    const other = begun([{ parallel: ['x', 'y'] }]);
    const loser = at(other.job, '6-a');
    const taken = other.steps;
    const told = withForeignSteps(winner, loser, taken);
    const message = (path: string, was: string, now: string) =>
      `Step ${path} (${was}) was begun by the flow without a version in another copy of the job. This copy goes by the flow version "2", which has ${now} there. The attempt is kept, and the job goes on by the flow version "2".`;
    const problems = [
      { path: 'steps', message: message('0.parallel.0', 'x', 'nothing') },
      { path: 'steps', message: message('0.parallel.1', 'y', 'nothing') },
    ];
    expect(told).toEqual({ ...winner, problems });
    expect(withForeignSteps(told, loser, taken)).toBe(told);
    const noted = { ...winner, problems: problems.slice(0, 1) };
    expect(withForeignSteps(noted, loser, taken)).toEqual(told);
    const untold: readonly (readonly [LeafRevision, LeafRevision])[] = [
      [winner, { ...loser, flow_rev: '1-two' }],
      [{ ...winner, state: '$$complete' }, loser],
      [{ ...winner, steps: 7 }, loser],
      [winner, { ...loser, state: undefined, steps: undefined }],
    ];
    for (const [merged, lost] of untold) {
      expect(withForeignSteps(merged, lost, taken)).toBe(merged);
    }
    expect(withForeignSteps(winner, loser, [])).toBe(winner);
  });

  it('is on record twice where it was made twice, and the last one counts', () => {
    const { job, loser } = movedTo(['a', 'b', 'x'], ['a', 'b', 'y']);
    const next = withMergedRequests(at(job, '5-b'), loser);
    expect(next).toMatchObject({ flow_version: '3', flow_rev: '1-v3', tasks: loser['tasks'] });
    const records = next['requests'] as readonly { to: string; refused?: string }[];
    expect(records.map(({ to, refused }) => [to, refused])).toEqual([
      ['2', undefined],
      ['3', undefined],
    ]);
  });

  it('is refused on record where the definitions are not known, and only kept in a job that has ended', () => {
    const requests = [{ id: 'm', action: 'migrate', to: '2', at: 1 }];
    const unbegun = leaf('2-a', [], { state: undefined, steps: undefined, requests });
    const { job } = movedTo();
    const next = withMergedRequests(at(job, '5-b'), unbegun);
    expect(next['requests']).toMatchObject([
      { id: 'm', refused: expect.stringContaining('cannot move any more') as string },
    ]);
    const { loser } = movedTo(['a', 'b', 'x']);
    const { flow_rev: _rev, ...unnamed } = loser as LeafRevision & { readonly flow_rev?: unknown };
    for (const lost of [unnamed, { ...loser, definitions: {} }]) {
      const kept = withMergedRequests(at(job, '5-b'), lost);
      expect(kept).toMatchObject({ tasks: at(job, '5-b')['tasks'], flow_version: '1' });
      expect(kept['requests']).toMatchObject([{ refused: expect.any(String) as string }]);
    }
    const ended = leaf('5-b', [], { state: '$$complete', exit: 0 });
    expect(withMergedRequests(ended, unbegun)).toEqual({ ...ended, requests });
  });
});

describe('a request that was refused in the other leaf', () => {
  it('is on record, and nothing else comes of it', () => {
    const requests = [{ id: 'r', action: 'pause', at: 1, refused: 'It has ended.' }];
    const next = withMergedRequests(leaf('4-b', []), leaf('4-a', [], { requests }));
    expect(next).toEqual({ ...leaf('4-b', []), requests });
  });
});

describe('a final job', () => {
  it('keeps notes, signals and records of the other revision, and is not halted by it', () => {
    const winner = leaf('5-b', [], { state: '$$complete', exit: 0 });
    const requests = [asked('1', 'pause'), asked('2', 'cancel')];
    const notes = [{ text: 'a', at: 1 }];
    const signals = [{ id: 's', name: 'go' }];
    const more = { paused: true, cancel: { by: 'ann' }, requests, notes, signals };
    const resolution = planResolution([winner, leaf('4-a', [], more)], () => 'elsewhere');
    expect(resolution?.next).toEqual({ ...winner, requests, notes, signals });
  });
});

describe('what was written into the other revision and is not on record there', () => {
  const step = attempt('0#1 $$complete a', { start: 3, end: 6 });
  const edited = { paused: true, cancel: { by: 'ann' }, start: 2, requests: [asked('n', 'note')] };
  const edits = [
    { id: 'edit:pause:0', action: 'pause', edited: true, at: 6 },
    { id: 'edit:cancel:0', action: 'cancel', by: 'ann', edited: true, at: 6 },
  ];

  it('is done by a live job', () => {
    const next = withMergedRequests(leaf('4-b', []), leaf('4-a', [step], edited));
    const { paused, cancel } = edited;
    expect(next).toEqual({
      ...leaf('4-b', []),
      ...{ paused, cancel, requests: [asked('n', 'note'), ...edits] },
    });
  });

  it.each(['$$complete', '$$cancelled'])('is refused by a job that is %s', (state) => {
    const winner = leaf('4-b', [], { state, end: 9 });
    const next = withMergedRequests(winner, leaf('4-a', [step], edited));
    const refused = 'Job j is final already.';
    const told = edits.map((edit) => ({ ...edit, refused }));
    expect(next).toEqual({ ...winner, requests: [asked('n', 'note'), ...told] });
    // Whoever heals once more finds it on record.
    expect(withMergedRequests(next, leaf('4-a', [step], edited))).toEqual(next);
  });

  it('is refused in the revision that had ended', () => {
    const other = leaf('4-a', [], { state: '$$complete', end: 7, cancel: true });
    const refused = 'Job j is final already.';
    expect(withMergedRequests(leaf('4-b', []), other)).toMatchObject({
      requests: [{ id: 'edit:cancel:4-a', action: 'cancel', at: 7, refused }],
    });
  });
});

describe('an attempt that ran beside the others', () => {
  it('is a problem of the job', () => {
    const job = leaf('2-a', []);
    expect(withNotes(job, [])).toBe(job);
    const noted = withNotes(job, [attempt('0#2 $$error b')]);
    const message =
      'Attempt 2 of step s0 ran on b as well (claim b), when the step was done already.';
    expect(noted).toEqual({ ...job, problems: [{ path: 'steps', message }] });
    const more = withNotes(noted, [attempt('0#3 $$error c')]);
    expect(more['problems']).toHaveLength(2);
  });
});
