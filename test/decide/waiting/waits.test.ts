import { describe, expect, it } from 'vitest';
import { t0, task } from '../../support/builders.js';
import { begun, endings, story } from '../story.js';

const iso = (ms: number): string => new Date(t0 + ms).toISOString();

describe('an entry that waits for a signal', () => {
  const wait = { wait: { signal: 'go' } };

  // Shows H-01.
  it('waits without a slot and without an engine that has it in hand', () => {
    const told = begun([wait, 'a'], { world: { freeSlots: 0, plugins: [] } });
    expect(told.last).toEqual({
      ...{ index: 0, path: '0', name: 'wait', task: 'wait', attempt: 1, run: 1, phase: 'main' },
      ...{ state: '$$waiting', params: {}, accepted: t0, start: t0, signal: 'go' },
    });
    expect(told.job).toMatchObject({ state: 'wait-0' });
    expect(told.decide()).toEqual({
      rule: 'structure',
      kind: 'wait',
      because: 'Step wait waits for the signal "go".',
      asleep: true,
    });
  });

  // Shows H-01, X-12.
  it('goes on with the signal, whose data is its result', () => {
    const told = begun([wait, { task: 'a', params: { got: '{{results.wait}}' } }]);
    told.at(50).signal('go', { ok: true });
    expect(told.steps[0]).toMatchObject({
      state: '$$complete',
      end: t0 + 50,
      exit: 0,
      result: { ok: true },
      signal_id: 'sent-1',
    });
    expect(told.live.params).toEqual({ got: { ok: true } });
    expect(told.job).toMatchObject({
      signals: [{ id: 'sent-1', name: 'go', at: t0 + 50, data: { ok: true } }],
    });
  });

  it('takes one that came before it did, also before the job began', () => {
    const told = story({ steps: ['a', wait, 'b'] });
    told.signal('go', 1).did('a');
    expect(told.running).toEqual(['b']);
    expect(told.steps[1]).toMatchObject({ result: 1 });
  });

  it('takes each signal once, the oldest first', () => {
    const told = begun([wait, wait, 'b']).signal('go', 1);
    expect(told.trail).toEqual(['wait#1 $$complete', 'wait#1 $$waiting']);
    told.signal('go', 2);
    expect(told.steps.map((step) => step['result'])).toEqual([1, 2, undefined]);
  });

  // Shows H-05.
  it('may have a name that is a template, also in a map', () => {
    const told = begun([{ map: { over: [1, 'x'], do: { wait: { signal: 's{{item}}' } } } }]);
    expect(told.steps.slice(1).map((step) => step['signal'])).toEqual(['s1', 'sx']);
    told.signal('sx', 7).signal('s1');
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  it('leaves signals of other names alone, and those without data bring no result', () => {
    const told = begun([wait, 'b']).signal('stop').signal('go');
    expect(told.steps[0]).not.toHaveProperty('result');
    expect(told.running).toEqual(['b']);
  });

  it('beside others of the same name gets the next one', () => {
    const told = begun([{ parallel: [wait, wait] }, 'b']).signal('go', 1);
    expect(told.open).toEqual(['0.parallel.1']);
    expect(told.signal('go', 2).running).toEqual(['b']);
  });

  it('fails when none came in time, and is tried again by its policy', () => {
    const timed = { wait: { signal: 'go', timeout: 1000 }, retry: { limit: 1, delay: 500 } };
    const told = begun([timed, 'b']);
    expect(told.decide()).toMatchObject({ kind: 'wait', asleep: true, until: t0 + 1000 });
    told.at(1000).go();
    expect(told.trail).toEqual(['wait#1 $$timeout']);
    expect(told.steps[0]).toMatchObject({
      exit: 1,
      due: t0 + 1500,
      failure: {
        name: 'WaitTimeout',
        message: 'The step waited for the signal "go" for 1000 ms in vain.',
      },
    });
    told.at(1500).go();
    expect(told.open).toEqual(['0']);
    told.at(2500).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'WaitTimeout' });
  });

  it('takes a signal that was there when its time was over', () => {
    const told = begun([{ wait: { signal: 'go', timeout: 1000 } }, 'b'])
      .at(1000)
      .signal('go');
    expect(told.running).toEqual(['b']);
  });

  it.each([
    ['its own first', { wait: { signal: 'go', timeout: 100 }, timeout: 900 }, 100],
    ['that of the entry else', { ...wait, timeout: 900 }, 900],
  ])('has a timeout: %s', (_title, node, ms) => {
    expect(begun([node]).decide()).toMatchObject({ until: t0 + ms });
  });

  it.each([[{ wait: { signal: 'go', timeout: 0 } }], [{ ...wait, timeout: 0 }], [wait]])(
    'has no timeout: %j',
    (node) => {
      expect(begun([node]).decide()).not.toHaveProperty('until');
    },
  );

  it('takes a new signal when it is asked for anew', () => {
    const told = begun([wait, 'a']).signal('go', 1).broke('a').ask('retry', { from: 'wait' });
    expect(told.open).toEqual(['0']);
    expect(told.signal('go', 2).running).toEqual(['a']);
  });

  it('may have a condition', () => {
    const told = story({ steps: [{ ...wait, when: 'w' }, 'a'] }).answering({ '0.when': false });
    told.go();
    expect(told.running).toEqual(['a']);
  });
});

describe('an entry that waits for an event', () => {
  const wait = { wait: { event: 'paid', key: 'order-{{job.params.order}}' } };
  const job = { params: { order: 7 } };
  const found = (data?: unknown) => ({
    events: {
      'paid:order-7': {
        kind: 'found' as const,
        events: [
          {
            id: 'event:paid:order-7',
            isFact: true as const,
            ...(data === undefined ? {} : { data }),
          },
        ],
      },
    },
  });

  // Shows H-04.
  it('asks for it, and goes on with its data, whenever it was announced', () => {
    const told = begun([wait, 'a'], { job });
    expect(told.last).toMatchObject({ state: '$$waiting', event: 'paid', key: 'order-7' });
    expect(told.decide()).toMatchObject({
      kind: 'wait',
      because: 'Step wait waits for the event "paid" of "order-7".',
      asleep: true,
    });
    told.with(found({ sum: 3 })).go();
    expect(told.steps[0]).toMatchObject({ state: '$$complete', result: { sum: 3 } });
    const later = begun([wait, 'a'], { job, world: found() });
    expect(later.running).toEqual(['a']);
  });

  it('is released for every waiter', () => {
    const told = begun([{ parallel: [wait, wait] }, wait, 'a'], { job });
    told.with(found()).go();
    expect(told.running).toEqual(['a']);
  });

  it('is looked up where nobody knows of it yet', () => {
    const told = begun([{ parallel: [wait, { wait: { event: 'shipped' } }] }], { job });
    const unknown = { kind: 'unknown' as const };
    const intent = told.decide(told.job, {
      events: { 'paid:order-7': unknown, 'shipped:': unknown },
    });
    expect(intent).toMatchObject({
      kind: 'look_up',
      events: [
        { type: 'paid', key: 'order-7' },
        { type: 'shipped', key: '' },
      ],
    });
  });

  // Shows H-05.
  it('has a key of any kind that a template gives, or none', () => {
    const told = begun(
      [
        {
          parallel: [
            { wait: { event: 'e', key: '{{job.params.order}}' } },
            { wait: { event: 'e' } },
          ],
        },
      ],
      { job },
    );
    expect(told.steps.map((step) => step['key'])).toEqual(['7', '']);
    expect(told.decide()).toMatchObject({
      because: 'Step wait waits for the event "e" of "7". Step wait waits for the event "e".',
    });
  });

  it('fails when its key cannot be filled in', () => {
    const told = begun([{ wait: { event: 'e', key: '{{job.params.nothing}}' } }]);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'TemplateError' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining('in wait.key ') as string },
    });
  });

  it('keeps its parameters apart from its key', () => {
    const told = begun([{ wait: { event: 'e', key: 'k' }, params: { key: 'other', delay: 5 } }]);
    expect(told.last).toMatchObject({ key: 'k', params: { key: 'other', delay: 5 } });
  });

  it('has no key where somebody took it away', () => {
    const told = begun([{ wait: { event: 'e', key: 'k' } }]);
    const { key: _key, ...step } = told.last as { readonly key?: string };
    told.edit({ steps: [step] });
    expect(told.decide()).toMatchObject({ because: 'Step wait waits for the event "e".' });
  });

  it('fails in time when it is not announced', () => {
    const told = begun([{ wait: { event: 'e', timeout: 10 } }]).at(10);
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'WaitTimeout' });
  });
});

describe('a delay', () => {
  // Shows X-11.
  it.each([
    ['milliseconds', 1500, 1500],
    ['milliseconds with a fraction', 1.6, 2],
    ['nothing', 0, undefined],
    ['milliseconds as a text', '1500', 1500],
    ['a length in ISO 8601', 'PT1.5S', 1500],
    ['a template of a length', 'PT{{job.params.s}}S', 30_000],
    ['a time', iso(1500), 1500],
    ['a time with spaces around it', ` ${iso(1500)} `, 1500],
    ['a time in another zone', '2026-01-01T01:00:05+01:00', 5000],
    ['a time that is over', iso(-5), undefined],
    ['a template of milliseconds', '{{job.params.ms}}', 700],
    ['a template of a time', '{{job.params.at}}', 900],
    ['a template that gives a part of a time', '2026-01-01T00:00:{{job.params.s}}Z', 30_000],
  ])('may be %s', (_title, delay, ms) => {
    const told = begun([{ delay }, 'a'], { job: { params: { ms: 700, at: iso(900), s: 30 } } });
    if (ms === undefined) return expect(told.running).toEqual(['a']);
    expect(told.decide()).toEqual({
      rule: 'structure',
      kind: 'wait',
      because: `Step delay waits until ${iso(ms)}.`,
      asleep: true,
      until: t0 + ms,
    });
    told.at(ms - 1).go();
    expect(told.open).toEqual(['0']);
    told.at(ms).go();
    expect(told.running).toEqual(['a']);
    expect(told.steps[0]).not.toHaveProperty('result');
    return expect(told.did('a').ending).toEqual(endings.well);
  });

  it.each([
    ['a text', 'soon', '"soon"'],
    ['a date without a zone', '2026-01-01T00:00:00', '"2026-01-01T00:00:00"'],
    ['a template of something else', '{{job.params.x}}', '{"y":1}'],
    ['a negative number', '{{job.params.n}}', '-1'],
    ['longer than a hundred years', '{{job.params.long}}', '1e+300'],
    ['nothing at all', '{{job.params.none}}', 'null'],
  ])('that is %s fails with exit 3, and is not tried again', (_title, delay, value) => {
    const params = { x: { y: 1 }, n: -1, long: 1e300, none: null };
    const told = begun([{ delay, retry: 3 }, 'a'], { job: { params } });
    expect(told.trail).toEqual(['delay#1 $$error']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'DelayInvalid' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining(value) as string },
    });
  });

  it('does not begin too late for the flow, and does not count for it', () => {
    const told = begun(['a', { delay: 60_000 }, 'b', 'c'], { flow: { timeout: 1000 } });
    told.at(400).did('a').at(60_400).go();
    expect(told.at(60_999).did('b').running).toEqual(['c']);
    const late = begun(['a', { delay: 5 }], { flow: { timeout: 1000 } })
      .at(1000)
      .did('a');
    expect(late.ending).toMatchObject({ exit: 1, failure: 'FlowTimeout' });
  });

  it('waits in a branch of its own, as long as the others run', () => {
    const told = begun([{ parallel: [{ delay: 500 }, 'a'] }, 'b']);
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 500 });
    expect(told.decide()).not.toHaveProperty('asleep');
    told.at(500).go();
    expect(told.did('a').running).toEqual(['b']);
  });
});

describe('child flows', () => {
  const flow = { flow: 'inner', params: { x: '{{job.params.n}}' } };
  const final = (id: string, more: object) => ({
    kind: 'final' as const,
    job: { _id: id, _rev: '1-x', type: 'job' as const, state: '$$complete' as const, ...more },
  });

  it('run beside each other without a slot, each as a job of its own', () => {
    const told = begun([{ parallel: [flow, 'a', { ...flow, name: 'two' }] }, 'b'], {
      job: { params: { n: 5 }, priority: 3 },
      world: { freeSlots: 1 },
    });
    expect(
      told.children.map(({ _id, flow: name, params, parent, priority }) => ({
        _id,
        name,
        params,
        parent,
        priority,
      })),
    ).toEqual([
      {
        _id: 'j:0.parallel.0:1',
        name: 'inner',
        params: { x: 5 },
        parent: { job: 'j', step: '0.parallel.0', start: t0, depth: 1 },
        priority: 3,
      },
      {
        _id: 'j:0.parallel.2:1',
        name: 'inner',
        params: { x: 5 },
        parent: { job: 'j', step: '0.parallel.2', start: t0, depth: 1 },
        priority: 3,
      },
    ]);
    expect(told.open).toEqual(['0.parallel.0', '0.parallel.2']);
    const children = {
      'j:0.parallel.0:1': { kind: 'live' as const },
      'j:0.parallel.2:1': { kind: 'live' as const },
    };
    told.with({ children }).go();
    expect(told.running).toEqual(['a']);
    told.with({
      children: { ...children, 'j:0.parallel.2:1': final('x', { exit: 0, result: 9 }) },
    });
    told.did('a');
    expect(told.open).toEqual(['0.parallel.0']);
    told.with({ children: { 'j:0.parallel.0:1': final('x', { exit: 0 }) } }).go();
    expect(told.running).toEqual(['b']);
    expect(told.steps[1]).toMatchObject({ name: 'two', result: 9 });
  });

  it('are all asked for at once', () => {
    const told = begun([{ parallel: [flow, flow] }], { job: { params: { n: 1 } } });
    expect(told.decide()).toMatchObject({
      kind: 'look_up',
      children: ['j:0.parallel.0:1', 'j:0.parallel.1:1'],
    });
  });

  it('need no task, and take nothing from a task of their name', () => {
    const told = begun([{ flow: 'mail' }, 'mail'], {
      tasks: [task('mail', { params: { of: 'task' }, optional: true, error: 'h', undo: 'u' })],
    });
    expect(told.children[0]).toMatchObject({ flow: 'mail', params: {} });
    told.with({ children: { 'j:0:1': final('x', { exit: 4 }) } }).go();
    expect(told.ending).toMatchObject({ exit: 4, failure: 'ChildFailed' });
  });

  it('are run again when their entry says so, each time as another job', () => {
    const told = begun([{ flow: 'inner', retry: 1 }]);
    told.with({ children: { 'j:0:1': final('x', { exit: 2 }) } }).go();
    expect(told.children.map(({ _id }) => _id)).toEqual(['j:0:2']);
    told.with({ children: { 'j:0:2': final('x', { exit: 2 }) } }).go();
    expect(told.ending).toMatchObject({ exit: 2, failure: 'ChildFailed' });
  });

  it('are given up when they are not needed any more', () => {
    const told = begun([
      { parallel: [{ flow: 'inner' }, 'a'], join: 'any', cancel_rest: true },
      'b',
    ]);
    told.with({ children: { 'j:0.parallel.0:1': { kind: 'live' } } }).go();
    expect(told.end({ kind: 'done' }, 'a')).toMatchObject({
      kind: 'claim',
      abandons: [{ child: 'j:0.parallel.0:1' }],
    });
    expect(told.trail).toEqual(['inner#1 $$cancelled', 'a#1 $$complete', 'b#1 $$active']);
  });

  it.each([
    ['with the flow that failed', { on_fail: 'cancel_rest' }, {}, 'broke'],
    ['with a cancel', {}, {}, 'cancel'],
    ['with a hard timeout', {}, { timeout: 100, timeout_mode: 'hard' as const }, 'timeout'],
  ])('are given up %s', (_title, more, options, how) => {
    const told = begun([{ parallel: [{ flow: 'inner' }, 'a'], ...more }], { flow: options });
    told.with({ children: { 'j:0.parallel.0:1': { kind: 'live' } } }).go();
    if (how === 'cancel') told.edit({ cancel: true });
    const intent =
      how === 'broke'
        ? told.end({ kind: 'failed', failure: { name: 'Broken', message: '' } }, 'a')
        : told.at(100).go();
    expect(intent).toMatchObject({ kind: 'write', abandons: [{ child: 'j:0.parallel.0:1' }] });
    if (how === 'cancel') expect(told.decide().kind).toBe('abort');
  });
});

describe('an entry that waits and was changed by hand', () => {
  it('waits for nothing when its time was taken out', () => {
    const told = begun([{ delay: 500 }]);
    const { until: _until, ...step } = told.last as { readonly until?: number };
    told.edit({ steps: [step] });
    expect(told.decide()).toMatchObject({ because: 'Step delay waits for nothing.' });
  });
});
