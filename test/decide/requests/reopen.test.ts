import { describe, expect, it } from 'vitest';
import { abandoned } from '../../../src/decide/finish/abandoned.js';
import { decide } from '../../../src/decide/decide.js';
import { endRefused, endUnbegun, finish } from '../../../src/decide/finish/finish.js';
import { reopened } from '../../../src/decide/requests/reopen.js';
import { leafNamed } from '../../../src/decide/requests/retry-place.js';
import type { FinalJob, Job, LiveJob } from '../../../src/model/job.js';
import type { RetryRequest } from '../../../src/model/request.js';
import type { Step } from '../../../src/model/step.js';
import type { Structure } from '../../../src/model/tree.js';
import { flow, frozen, liveJob, newJob, t0, world } from '../../support/builders.js';
import { family, type End } from '../family.js';
import { story, type Story } from '../story.js';

const named = { params: { 'b-1': { n: 1 } } };
const broken = { name: 'Broken', message: 'It is broken.' };

/** `a` is done, `b` failed, so did the job; `c` was never begun. */
function failing(more: Record<string, unknown> = {}): Story {
  const it = story({ steps: ['a', { task: 'b', name: 'mid' }, 'c'], job: more });
  it.go();
  return it.did('a').broke('b');
}

const final = (it: Story): FinalJob => it.job as FinalJob;

const itemsOf = (step: Step): unknown =>
  (step as { readonly result?: { readonly items?: unknown } }).result?.items;

/** The job that goes on, or the reason why not. */
function again(job: FinalJob, wish: RetryRequest, now = t0 + 100): Job | string {
  const result = reopened(frozen(job), wish, now);
  return result.kind === 'applied' ? result.job : result.because;
}

describe('reopened', () => {
  it('goes on at the step that failed, in the next run', () => {
    const it = failing();
    it.at(100).edit({ retry: true }).go();
    expect(it.running).toEqual([]);
    expect(it.liveJob).toMatchObject({ run: 2, timed_from: t0 + 100, state: 'b-1' });
    it.go();
    expect(it.trail).toEqual(['a#1 $$complete', 'b#1 $$error', 'b#2 $$active']);
    it.did('b').did('c');
    expect(it.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('carries nothing of how the job ended', () => {
    const kept = again({ ...final(failing()), cancel: {}, retry: true, paused: true }, {});
    const gone = ['end', 'exit', 'failure', 'result', 'cancel', 'retry', 'paused', 'redo'];
    for (const key of gone) expect(kept).not.toHaveProperty(key);
  });

  it('does again what is asked for and all that comes after it', () => {
    const it = failing();
    it.edit({ retry: { from: 'a' } }).go();
    it.go();
    expect(it.trail).toEqual(['a#1 $$complete', 'b#1 $$error', 'a#2 $$active']);
    it.did('a').did('b').did('c');
    expect(it.ending).toMatchObject({ exit: 0 });
    it.edit({ retry: { from: 'c' } }).go();
    expect(it.liveJob.redo).toEqual([
      { from: '0', run: 2 },
      { from: '2', run: 3 },
    ]);
    it.go();
    expect(it.running).toEqual(['c']);
  });

  it('is ready again when nothing but a structure was looked at', () => {
    const it = story({ steps: [{ loop: { while: 'w', max: 2, do: 'a' } }] });
    it.answering({ '0.loop.0.while': true }).go();
    const [mark] = it.steps.filter(({ structure }) => structure !== undefined);
    expect(mark).toBeDefined();
    const steps = [mark] as Step[];
    expect(
      again({ ...finish(it.liveJob, { exit: 2, failure: broken }, t0), steps }, {}),
    ).toMatchObject({ state: '$$ready', steps });
  });

  it.each<[string, Partial<FinalJob>, RetryRequest, object]>([
    ['with the latest definitions', {}, { latest: true }, { refresh: true }],
    ['with a target', { target: 'x' }, {}, { relock: true, target: 'x' }],
    ['with a time to expire that is to come', { expires: t0 + 101 }, {}, { expires: t0 + 101 }],
    [
      'with other parameters of its own',
      { params: { own: 0 } },
      { params: { own: 1 } },
      { params: { own: 1 } },
    ],
    ['with parameters of new steps', {}, { latest: true, params: { neu: {} } }, { refresh: true }],
    ['with parameters of a step by its name', {}, { params: { mid: { n: 1 } } }, named],
    ['with parameters of a step by its path', {}, { params: { '1': { n: 1 } } }, named],
    [
      'with parameters by words of which the most exact counts',
      {},
      { params: { 'b-1': { n: 3 }, '1': { n: 2, m: 2 }, b: { n: 1, k: 1 } } },
      { params: { 'b-1': { n: 3, m: 2, k: 1 } } },
    ],
    [
      'with other parameters of a task, at all its steps',
      {},
      { params: { b: { n: 1 }, 'c-2': { m: 2 } } },
      { params: { b: { n: 1 }, 'b-1': { n: 1 }, 'c-2': { m: 2 } } },
    ],
  ])('goes on %s', (_title, more, wish, expected) => {
    expect(again({ ...final(failing()), ...more }, wish)).toMatchObject(expected);
  });

  it('forgets a time to expire that is over', () => {
    const job = { ...final(failing()), expires: t0 + 100 };
    expect(again(job, {})).not.toHaveProperty('expires');
  });

  it('takes no lock and no new definitions of itself', () => {
    const job = again(final(failing()), { latest: false });
    expect(job).not.toHaveProperty('relock');
    expect(job).not.toHaveProperty('refresh');
  });

  describe('at a structure', () => {
    const mapping = (): Story => {
      const each = { name: 'all', map: { over: 'params.list', do: 'a' } };
      const it = story({ steps: [each, 'b'], job: { params: { list: [1, 2] } } });
      it.answering({ '0.map.over': [1, 2] }).go();
      return it.did('a').broke('a');
    };

    /** The lists that maps found, oldest first. */
    const listsOf = ({ steps }: Story): readonly unknown[] =>
      steps.filter(({ structure }) => structure === 'map').map((step) => itemsOf(step));

    it.each(['all', '0'])('has a map go over its list as it is now (from %s)', (from) => {
      const it = mapping();
      it.edit({ retry: { from, params: { list: [3, 4, 5] } } });
      it.answering({ '0.map.over': [3, 4, 5] }).go();
      it.go();
      expect(it.liveJob.redo).toEqual([{ from: '0', run: 2 }]);
      expect(listsOf(it)).toEqual([
        [1, 2],
        [3, 4, 5],
      ]);
    });

    it('keeps the list of a map where only what is in it begins again', () => {
      const it = mapping();
      it.edit({ retry: { from: 'a', params: { list: [3, 4, 5] } } }).go();
      it.go();
      expect(listsOf(it)).toEqual([[1, 2]]);
    });

    it('does the whole flow again at "."', () => {
      const it = failing();
      it.edit({ retry: { from: '.' } }).go();
      it.go();
      it.did('a').did('b').did('c');
      expect(it.trail.slice(2)).toEqual(['a#2 $$complete', 'b#2 $$complete', 'c#1 $$complete']);
      expect(it.ending).toMatchObject({ exit: 0 });
    });

    it('has a map that is the whole flow go over its list as it is now', () => {
      const it = story({
        steps: [],
        flow: { tasks: { map: { over: 'params.list', do: 'a' } } },
        job: { params: { list: [1] } },
      });
      it.answering({ 'map.over': [1] }).go();
      it.broke('a').edit({ retry: { from: '.', params: { list: [3, 4] } } });
      it.answering({ 'map.over': [3, 4] }).go();
      it.go();
      expect(listsOf(it)).toEqual([[1], [3, 4]]);
    });

    it('means by "." a step that is called so', () => {
      const it = story({ steps: ['a', { task: 'b', name: '.' }] });
      it.go();
      const job = again(final(it.did('a').broke('b')), { from: '.' });
      expect(job).toMatchObject({ redo: [{ from: '1' }] });
    });

    it('names the structures where none is called so', () => {
      expect(again(final(mapping()), { from: 'z' })).toBe(
        'Job j has no step "z"; its steps are a-0, b-1, its structures all; "." is the whole flow.',
      );
    });

    it.each(['both', ''])('refuses a name that several structures have, or none: "%s"', (from) => {
      const one = { name: 'both', parallel: ['a'] };
      const it = story({ steps: [one, one] });
      it.go();
      expect(again(final(it.broke('a')), { from })).toContain(`no step "${from}"`);
    });
  });

  describe('at one of many', () => {
    const map = { over: [1, 2, 3, 4, 5, 6], slice: 2, limit: 2, do: ['a', 'b'] };
    /** Item 3 failed, so that the slice with 4 and 5 was not begun. */
    const sliced = (more: object = {}) =>
      family([{ ...more, map: { ...map, on_fail: 'cancel_rest' } }]).endAll((path): End =>
        path.startsWith('0.map.3') ? { failure: 'Broken' } : {},
      );
    const [good, bad] = ['j:0.slice.0:1', 'j:0.slice.1:1'];

    it.each<[from: string, more: object, because: string]>([
      [
        '0.map.3',
        {},
        `Job j has item 3 of the map at 0 in its child job ${bad}: retry that job from "0.map.3", and then job j, which takes over its result.`,
      ],
      [
        '0.map.2.sequence.1',
        { name: 'all' },
        `Job j has item 2 of the map "all" in its child job ${bad}: retry that job from "0.map.2.sequence.1", and then job j, which takes over its result.`,
      ],
      [
        '0.map.0',
        { name: 'all' },
        `Job j has item 0 of the map "all" in its child job ${good}: it ended well, so job j would not take over another result; say "from" "all" to do all items again.`,
      ],
      [
        '0.map.4',
        {},
        'Job j has no item 4 of the map at 0; say "from" "0" to begin all of it anew.',
      ],
      [
        '0.map.6',
        { name: 'all' },
        'Job j has no item 6 of the map "all"; say "from" "all" to begin all of it anew.',
      ],
    ])('refuses an item that only a child job has (%s)', (from, more, because) => {
      expect(again(sliced(more).job(), { from })).toBe(because);
    });

    it('does an item again in its child job, whose result the parent takes over', () => {
      const both = sliced();
      both.edit({ retry: { from: '0.map.2' } }, bad);
      expect(both.running).toEqual(['0.map.2.sequence.0', '0.map.3.sequence.0']);
      both.endAll().edit({ retry: true });
      both.endAll();
      expect(both.job()).toMatchObject({ exit: 0, run: 2 });
      expect(both.job(bad)).toMatchObject({ exit: 0, run: 2 });
    });

    it('refuses in a child job what is in another one', () => {
      expect(again(sliced().job(bad), { from: '0.map.0' })).toContain('has no item 0 of the map');
    });

    it('refuses in a child job what is beside its map, and takes what the map is in', () => {
      const inner = { map: { ...map, over: [1, 2, 3], do: 'b' } };
      const told = family(['z', { map: { over: [1], do: [inner, 'c'] } }]);
      told.end('0', {}).endAll((): End => ({ failure: 'Broken' }));
      const job = told.job('j:1.map.0.sequence.0.slice.0:1');
      const because = (path: string) =>
        `Job ${job._id} does only items of the map at 1.map.0.sequence.0: retry its parent job from "${path}".`;
      for (const path of ['0', '1.map.0.sequence.1'])
        expect(again(job, { from: path })).toBe(because(path));
      for (const from of ['b', '1.map.0.sequence.0.map.1', '1.map.0', '.'])
        expect(again(job, { from }), from).toMatchObject({ run: 2 });
    });

    it('does all items again where the map is named, or what is in each', () => {
      for (const from of ['0', 'a', '0.map.*'])
        expect(again(sliced().job(), { from })).toMatchObject({ run: 2 });
    });

    it('refuses an item of a map that was not reached, or of one that is the whole flow', () => {
      const it = story({ steps: ['z', { map: { over: [1], do: 'a' } }] });
      it.go();
      const early = again(final(it.broke('z')), { from: '1.map.0' });
      expect(early).toContain('Job j has no item 0 of the map at 1;');
      const map = { structure: 'map', map: { over: [1], do: { task: 'a' } } } as Structure;
      const whole = { ...final(it), tasks: map } as FinalJob;
      expect(again(whole, { from: 'map.7' })).toBe(
        'Job j has no item 7 of the map; say "from" "." to begin all of it anew.',
      );
      expect(again(whole, { from: '.' })).toMatchObject({ redo: [{ from: '', run: 2 }] });
    });

    it('refuses an item or a round that was not there, and takes one that was', () => {
      const it = story({
        steps: [{ map: { over: [1, 2], do: 'a' } }, { loop: { while: 'w', max: 2, do: 'b' } }],
      });
      it.go();
      it.did('a').did('a');
      it.answering({ '1.loop.0.while': true }).go();
      const job = final(it.broke('b'));
      expect(again(job, { from: '0.map.1' })).toMatchObject({ redo: [{ from: '0.map.1' }] });
      expect(again(job, { from: '0.map.2' })).toContain('Job j has no item 2 of the map at 0;');
      expect(again(job, { from: '0.map.01' })).toContain('Job j has no step "0.map.01";');
      expect(again(job, { from: '1.loop.0' })).toMatchObject({ redo: [{ from: '1.loop.0' }] });
      expect(again(job, { from: '1.loop.1' })).toContain('Job j has no round 1 of the loop at 1;');
    });
  });

  const done = finish(liveJob(flow(['a'])), { exit: 0 }, t0);
  it.each<[string, FinalJob, RetryRequest, string]>([
    [
      'a step that is not there',
      done,
      { from: 'z' },
      'Job j has no step "z"; its steps are a-0; "." is the whole flow.',
    ],
    [
      'parameters that nothing has',
      final(failing()),
      { params: { mid: {}, lod: { n: 1 } } },
      'Nothing in job j has the parameters "lod"; its steps are a-0, b-1 (mid), c-2.',
    ],
    [
      'a job that succeeded',
      done,
      {},
      'Job j succeeded; say with "from" at which step it is to begin again.',
    ],
    [
      'a job whose document was spoilt',
      { ...done, run: 'x' },
      { from: 'a' },
      'Job j cannot go on as it stands: run must be a number; it is NaN.',
    ],
    [
      'a job with a step that is none',
      { ...done, steps: [null] as unknown as Step[] },
      { from: 'a' },
      'Job j cannot go on as it stands: steps[0] must be a step (an object); it is null.',
    ],
    [
      'a document that is no job',
      { ...done, type: 'x' as 'job' },
      { from: 'a' },
      'Job j cannot go on as it stands: it is no job.',
    ],
  ])('refuses %s', (_title, job, wish, because) => {
    expect(again(job, wish)).toBe(because);
  });
});

describe('a job that ended before its first step', () => {
  const unbegun = endUnbegun(newJob({ params: { n: 1 }, own: 1 }), t0, {
    exit: 3,
    failure: broken,
    problems: [{ path: 'flow', message: 'It is wrong.' }],
  });

  it('begins from nothing', () => {
    expect(again(unbegun, {})).toEqual(newJob({ params: { n: 1 }, own: 1 }));
  });

  it.each<[string, unknown, object]>([
    ['that it has', { n: 1 }, { n: 1, m: 2 }],
    ['that it lacks', 'text', { m: 2 }],
  ])('begins with changed parameters beside those %s', (_title, params, expected) => {
    expect(again({ ...unbegun, params }, { params: { m: 2 } })).toMatchObject({ params: expected });
  });

  it.each([['definitions'], ['tasks'], ['steps']])('begins from nothing without its %s', (key) => {
    const job = { ...finish(liveJob(flow(['a'])), { exit: 2 }, t0), [key]: undefined };
    expect(again(job as FinalJob, {})).not.toHaveProperty('state');
  });
});

describe('a job that has steps and not what they were done with', () => {
  const because = (key: string): string =>
    `Job j cannot go on: it has begun, and its "${key}" is gone or was changed; submit a new job.`;

  it.each([['definitions'], ['tasks']])('is not begun anew without its %s', (key) => {
    const told = failing();
    const ended = { ...final(told), [key]: undefined } as FinalJob;
    expect(again(ended, {})).toBe(because(key));
    told.write({ [key]: undefined, retry: true }).go();
    expect(told.job).toMatchObject({
      ...{ state: '$$complete', exit: 2, retry_refused: because(key) },
      requests: [{ action: 'retry', refused: because(key) }],
    });
    expect(told.steps).toHaveLength(2);
  });
});

describe('leafNamed', () => {
  const job: LiveJob = liveJob(
    flow([
      'a',
      { task: 'b', name: 'mid' },
      ['a', { task: 'c', name: 'twice' }],
      { task: 'd', name: 'twice' },
      { task: 'e', name: 'first' },
      'e',
    ]),
  );
  it.each([
    ['finds a step by its path', '2.sequence.0', '2.sequence.0'],
    ['finds a step by its label', 'a-2', '2.sequence.0'],
    ['finds a step by its name', 'mid', '1'],
    ['finds a step by its task', 'c', '2.sequence.1'],
    ['finds the one step of that name when others share it as their task', 'e', '5'],
    ['finds none when several have the task', 'a', undefined],
    ['finds none when several have the name', 'twice', undefined],
    ['finds none for another word', 'z', undefined],
  ])('%s', (_title, word, path) => {
    expect(leafNamed(job, word)?.path).toBe(path);
  });
});

describe('the key `retry` of a final job', () => {
  it('lets it go on when it is true', () => {
    expect(failing().edit({ retry: true }).go()).toMatchObject({ kind: 'write', job: { run: 2 } });
  });

  it('lets it go on as it says', () => {
    const intent = failing()
      .edit({ retry: { from: 'mid', params: { b: { n: 1 } } } })
      .go();
    expect(intent).toMatchObject({
      kind: 'write',
      job: { redo: [{ from: '1', run: 2 }], params: { 'b-1': { n: 1 } } },
    });
    expect(intent).not.toHaveProperty('job.retry');
  });

  it('is kept on record with what it overrode', () => {
    const it = failing();
    it.at(5)
      .edit({ retry: { from: 'mid', params: { mid: { n: 1 } }, latest: false } })
      .go();
    expect(it.liveJob.requests).toEqual([
      {
        id: 'retry:0',
        action: 'retry',
        from: 'mid',
        params: { mid: { n: 1 } },
        params_before: { 'b-1': {} },
        latest: false,
        overrode: {
          state: '$$complete',
          end: t0,
          exit: 2,
          failure: { name: 'Broken', message: 'It is Broken.', step: 'mid' },
        },
        at: t0 + 5,
      },
    ]);
    it.go();
    it.broke('b').at(9).edit({ retry: true }).go();
    expect(it.liveJob.requests).toMatchObject([
      { id: 'retry:0' },
      { id: 'retry:1', overrode: { exit: 2 }, at: t0 + 9 },
    ]);
  });

  it.each<[string, object, object]>([
    ['had none', { params: 'text', steps: undefined }, { b: null }],
    ['had others', { params: { b: { n: 2 } } }, { 'b-1': null, b: { n: 2 } }],
  ])('keeps what it replaces of a job that %s', (_title, more, before) => {
    const job = { ...final(failing()), ...more, retry: { params: { b: { n: 1 } } } };
    expect(decide(job as FinalJob, t0, world())).toMatchObject({
      job: { requests: [{ params_before: before }] },
    });
  });

  it.each([[false], [null], [undefined]])('changes nothing when it is %s', (retry) => {
    const job = { ...final(failing()), retry } as FinalJob;
    expect(decide(job, t0, world())).toEqual({
      rule: 'final',
      kind: 'ignore',
      because: 'The job is final.',
    });
  });

  it('is answered with the reason when it is refused', () => {
    const it = failing();
    it.edit({ retry: { from: 'z' } }).go();
    expect(it.job).toMatchObject({
      state: '$$complete',
      retry_refused:
        'Job j has no step "z"; its steps are a-0, b-1 (mid), c-2; "." is the whole flow.',
    });
    expect(it.job).not.toHaveProperty('retry');
    expect(it.job).toMatchObject({ requests: [{ action: 'retry', from: 'z' }] });
    it.edit({ retry: true }).go();
    expect(it.job).not.toHaveProperty('retry_refused');
  });
});

describe('abandoned', () => {
  const waiting = {
    index: 0,
    path: '0',
    name: 'f',
    task: 'f',
    attempt: 1,
    run: 1,
    phase: 'main',
    state: '$$waiting',
    child: 'j:0',
  } as Step;
  const before = { ...liveJob(flow(['a'])), steps: [waiting] };
  const ended = { end: t0, exit: 130, failure: broken };
  it.each<[string, Job, string[]]>([
    ['the child of a cancelled step', cancelledIn('$$cancelled'), ['j:0']],
    ['the child of a step that took too long', cancelledIn('$$timeout'), ['j:0']],
    ['no child of a step that failed with it', cancelledIn('$$error'), []],
    ['no child of a step that still waits', before, []],
    [
      'no child when the steps are gone',
      { ...finish(before, { exit: 2 }, t0), steps: undefined } as unknown as Job,
      [],
    ],
    ['no child when the job begins anew', newJob(), []],
  ])('gives up %s', (_title, after, children) => {
    expect(abandoned(before, after).map(({ child }) => child)).toEqual(children);
  });

  function cancelledIn(state: Step['state']): Job {
    return { ...before, steps: [{ ...waiting, ...ended, state } as Step] };
  }
});

describe('a wish in a final job that cannot be read', () => {
  const text = 'must be true or {from, params, latest}';
  const cases: readonly (readonly [unknown, string])[] = [
    ['true', `retry ${text}; it is the string "true".`],
    [1, `retry ${text}; it is 1.`],
    [[], `retry ${text}; it is an empty list.`],
    [{ from: 5 }, 'retry.from must be a string; it is 5.'],
    [{ params: 'x' }, 'retry.params must be an object of parameters; it is a string.'],
  ];

  it.each(cases)('%j is refused in the document and changes nothing else', (retry, because) => {
    const told = failing();
    const ended = final(told);
    told.at(100).edit({ retry }).go();
    const id = `edit:retry:${ended._rev}`;
    const requests = [{ id, action: 'retry', at: t0 + 100, refused: because }];
    expect(told.job).toEqual({ ...ended, requests, retry_refused: because });
    expect(told.decide()).toMatchObject({ kind: 'ignore' });
  });

  it('is refused, too, when the steps of the job were spoilt by hand', () => {
    const spoilt = { ...final(failing()), steps: [null, 5], retry: true } as unknown as FinalJob;
    expect(decide(spoilt, t0, world())).toMatchObject({
      kind: 'write',
      job: {
        state: '$$complete',
        exit: 2,
        retry_refused: expect.stringMatching(/cannot go on as it stands/) as string,
      },
    });
  });
});

describe('a job that was refused for a bad field', () => {
  const bad = { ...newJob({ tasks: ['a', 'b'] as never }), priority: 'high' };
  const ended = endUnbegun(bad, t0, { exit: 3, failure: broken });

  it('begins when the field is mended and the job is retried by one edit', () => {
    const told = story({ steps: ['a', 'b'] });
    told.job = { ...ended, priority: 5, retry: true };
    told.go();
    told.go();
    expect(told.running).toEqual(['a']);
    told.did('a').did('b');
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('keeps its end while the field is still wrong', () => {
    expect(again(ended, {})).toMatch(/cannot go on as it stands: priority must be/);
  });
});

describe('a final job about which nothing can be decided', () => {
  it('keeps its end, and its wish to go on is refused with the reason', () => {
    const ended = final(failing());
    const marked = endRefused({ ...ended, retry: true }, broken, t0 + 5);
    const refused = broken.message;
    const id = `edit:retry:${ended._rev}`;
    const requests = [{ id, action: 'retry', at: t0 + 5, refused }];
    expect(marked).toEqual({ ...ended, requests, retry_refused: refused });
  });
});
