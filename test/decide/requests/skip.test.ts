import { describe, expect, it } from 'vitest';
import { endUnbegun, finish } from '../../../src/decide/finish/finish.js';
import { skipped } from '../../../src/decide/requests/skip.js';
import type { Job } from '../../../src/model/job.js';
import { flow, frozen, liveJob, newJob, t0 } from '../../support/builders.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { story, type Setting, type Story } from '../story.js';

/** A job that has begun. */
function begun(steps: Setting['steps'], more: Partial<Setting> = {}): Story {
  const it = story({ steps, world: { freeSlots: 9 }, ...more });
  it.go();
  return it;
}

/** Leaves a step out and goes on; the reason when that is refused. */
function skip(it: Story, word: string): string | undefined {
  const result = skipped(it.job, word, it.now);
  if (result.kind === 'refused') return result.because;
  it.job = frozen(result.job);
  it.go();
  return undefined;
}

const paths = (it: Story): readonly string[] =>
  it.steps.map(({ path, state }) => `${path} ${state}`);

describe('skipped', () => {
  it('ends a running attempt and goes on behind the step', () => {
    const it = begun(['a', 'b']);
    expect(skip(it.at(5), 'a')).toBeUndefined();
    expect(it.trail).toEqual(['a#1 $$cancelled', 'a#2 $$skipped', 'b#1 $$active']);
    expect(it.steps[0]).toMatchObject({ end: t0 + 5, exit: 130, failure: { name: 'Skipped' } });
    expect(it.steps[1]).toMatchObject({ end: t0 + 5, exit: 0, phase: 'main', run: 1 });
    it.did('b');
    expect(it.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('leaves the other attempts running', () => {
    const it = begun([{ parallel: ['a', 'b'] }, 'c']);
    expect(skip(it, '0.parallel.1')).toBeUndefined();
    expect(it.running).toEqual(['a']);
    it.did('a');
    expect(it.running).toEqual(['c']);
  });

  it('ends a wait', () => {
    const it = begun([{ wait: { signal: 'go' } }, 'b']);
    expect(skip(it, 'wait')).toBeUndefined();
    expect(paths(it)).toEqual(['0 $$cancelled', '0 $$skipped', '1 $$active']);
  });

  it('leaves out a step that has not begun', () => {
    const it = begun(['a', 'b', 'c']);
    expect(skip(it, 'b-1')).toBeUndefined();
    it.did('a');
    expect(it.running).toEqual(['c']);
  });

  it('lets a failed job go on behind the step that failed', () => {
    const it = begun(['a', 'b']).broke('a');
    expect(it.ending).toMatchObject({ exit: 2 });
    expect(skip(it.at(9), 'a')).toBeUndefined();
    expect(it.trail).toEqual(['a#1 $$error', 'a#2 $$skipped', 'b#1 $$active']);
    expect(it.liveJob.run).toBe(2);
  });

  it.each(['a', '0.batch.1.parallel.0'])(
    'leaves the jobs of a batch alone once it calls back: %s',
    (word) => {
      const calls = { on_success: 's', on_failure: 'f', on_complete: 'e' };
      const it = begun([{ batch: ['a', { parallel: ['b', 'c'] }], ...calls }, 'd']);
      it.broke('a').broke('b').did('c');
      expect(it.running).toEqual(['f', 'e']);
      const because = `Job j calls back already for the batch around step "${word}"; skip the step when the job has ended.`;
      expect(skip(it, word)).toBe(because);
      it.did('f');
      expect(skip(it, word)).toBe(because);
      it.did('e');
      expect(it.ending).toMatchObject({ exit: 2 });
      expect(skip(it, 'a')).toBeUndefined();
      expect(it.running).toEqual(['b']);
    },
  );

  it('leaves out a job of a batch whose callback is to be left out, too', () => {
    const it = begun([{ batch: ['a', 'b'], on_success: 's', on_complete: 'e' }]);
    expect(skip(it, 'e')).toBeUndefined();
    expect(skip(it, 'a')).toBeUndefined();
    expect(it.did('b').running).toEqual(['s']);
  });

  it('leaves out one item of a map', () => {
    const it = begun([{ map: { over: [1, 2, 3], do: ['a', 'b'] } }, 'c']);
    expect(skip(it, '0.map.1.sequence.1')).toBeUndefined();
    expect(skip(it, '0.map.1.sequence.0')).toBeUndefined();
    expect(it.running).toEqual(['a', 'a']);
    expect(skip(it, '0.map.3.sequence.0')).toContain('Job j has no step "0.map.3.sequence.0";');
  });

  it('leaves out a step of one round of a loop', () => {
    const it = begun([{ loop: { max: 2, do: 'a', while: 'w' } }, 'b']);
    it.answering({ '0.loop.0.while': true, '0.loop.1.while': false }).go();
    expect(skip(it, '0.loop.1')).toContain('Job j has no step "0.loop.1";');
    expect(skip(it, '0.loop.0')).toBeUndefined();
    expect(it.running).toEqual(['b']);
  });

  const cases: WrittenNode[] = [
    { choice: [{ when: 'w', then: 'a' }], default: 'b' },
    { wait: { signal: 'go' } },
  ];
  it.each([
    ['before the choice is found out', false],
    ['after another case was taken', true],
  ])('A3: leaves out a step of a case that is not taken, %s', (_title, isTaken) => {
    const it = begun(isTaken ? cases : ['z', ...cases], { job: { flow: 'f' } });
    const no = { '0.choice[0].when': false, '1.choice[0].when': false };
    if (isTaken) it.answering(no).go();
    expect(skip(it, 'a')).toBeUndefined();
    if (!isTaken) it.did('z').answering(no).go();
    expect(it.did('b').signal('go').ending).toMatchObject({ exit: 0 });
  });

  const whole = 'stands in a map or a loop; name one of them by its path.';
  const over = { map: { over: [1], do: 'b' } };
  it.each<[string, Story, string, string]>([
    ['of another name', begun(['a']), 'z', 'Job j has no step "z"; its steps are a-0.'],
    ['that is done', begun(['a', 'b']).did('a'), 'a', 'Step "a" of job j is done already.'],
    ['of all items by its name', begun(['a', over]), 'b', `Step "b" ${whole}`],
    ['of all items by its path', begun(['a', over]), '1.map.*', `Step "1.map.*" ${whole}`],
    [
      'of a map whose items are not known',
      begun(['a', over]),
      '1.map.0',
      'Job j has no step "1.map.0"; its steps are a-0, b-1.',
    ],
    [
      'of a flow that handles its failure',
      begun(['a', 'b'], { flow: { error: 'h' } }).broke('a'),
      'b',
      'Job j ends already; skip the step when it has ended.',
    ],
  ])('refuses a step %s', (_title, it, word, because) => {
    expect(skip(it, word)).toBe(because);
  });

  const broken = { name: 'Broken', message: 'It is broken.' };
  const failed = finish(liveJob(flow(['a'])), { exit: 2, failure: broken }, t0);
  it.each<[string, Job, string]>([
    ['a new job', newJob(), 'Job j has not begun; its steps are not known yet.'],
    [
      'a job that succeeded',
      finish(liveJob(flow(['a'])), { exit: 0 }, t0),
      'Job j has succeeded: no step of it is left.',
    ],
    [
      'a job that ended before its first step',
      endUnbegun(newJob(), t0, { exit: 3, failure: broken }),
      'Job j has not begun any step.',
    ],
    [
      'a job whose document was spoilt',
      { ...failed, run: 'x' },
      'Job j cannot go on as it stands: run must be a number; it is NaN.',
    ],
  ])('refuses a step of %s', (_title, job, because) => {
    expect(skipped(frozen(job), 'a', t0)).toEqual({ kind: 'refused', because });
  });

  it('leaves out a step of a failed job whose handler has ended', () => {
    const it = begun(['a', 'b'], { flow: { error: 'h' } })
      .broke('a')
      .did('h');
    expect(it.ending).toMatchObject({ exit: 2 });
    expect(skip(it, 'a')).toBeUndefined();
    expect(it.running).toEqual(['b']);
  });
});
