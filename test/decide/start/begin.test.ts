import { describe, expect, it } from 'vitest';
import { peer, t0, task } from '../../support/builders.js';
import { story } from '../story.js';

describe('a claim', () => {
  // Shows C-03, C-08.
  it('names everything about the attempt', () => {
    const told = story({
      steps: ['a', ['x', { task: 'b', name: 'second', params: { p: 1 } }]],
      tasks: [task('b', { plugin: 'http' })],
      world: {
        id: 'e9',
        pid: 44,
        nonce: 'n7',
        plugins: ['a', 'x', 'http'],
        running: ['n7:1.sequence.0', 'n7:0'],
      },
    });
    told.go();
    told.done();
    const intent = told.at(50).done();
    expect(intent).toMatchObject({ kind: 'claim', steps: [told.last] });
    expect(told.last).toEqual({
      index: 2,
      path: '1.sequence.1',
      name: 'second',
      task: 'b',
      plugin: 'http',
      attempt: 1,
      run: 1,
      phase: 'main',
      state: '$$active',
      engine: 'e9',
      pid: 44,
      claim: 'n7:1.sequence.1',
      params: { p: 1 },
      accepted: t0 + 50,
      start: t0 + 50,
    });
    expect(told.job).toMatchObject({ state: 'b-2' });
  });

  // Shows G-06, X-31.
  it('fills in templates with what came before', () => {
    const told = story({
      steps: [
        'a',
        { task: 'b', params: { n: '{{results.a.n}}', text: 'n is {{parent_results.[0].n}}' } },
      ],
    });
    told.go();
    told.done({ n: 7 });
    expect(told.live.params).toEqual({ n: 7, text: 'n is 7' });
  });

  it('leaves templates that the plugin fills in itself', () => {
    const told = story({
      steps: [{ task: 'a', params: { body: '{{later}}' } }],
      world: { templates: ['body'] },
    });
    told.go();
    expect(told.live.params).toEqual({ body: '{{later}}' });
  });

  it('takes parameters that were edited before the step began', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.edit({ params: { 'b-1': { x: 'edited' } } });
    told.done();
    expect(told.live.params).toEqual({ x: 'edited' });
  });

  it.each([
    ['the params of the job for the first step', [{ task: 'a', stdio: { x: 'y' } }], { y: 5 }],
    ['the result before for others', ['b', { task: 'a', stdio: { n: 'y' } }], { y: 1 }],
    [
      'the last result over a skipped step',
      ['b', { task: 'c', when: 'w' }, { task: 'a', stdio: { n: 'y' } }],
      { y: 1 },
    ],
  ])('maps stdio from %s', (_title, steps, params) => {
    const told = story({ steps, job: { params: { x: 5 } } }).answering({ '1.when': false });
    told.go();
    if (told.live.task === 'b') told.done({ n: 1 });
    expect(told.live.params).toEqual(params);
  });

  // Shows G-06.
  it.each([
    ['a template', { params: { x: '{{results.zzz}}' } }, 'TemplateError', /params\.x/],
    ['a mapping', { stdio: { zzz: 'x' } }, 'MappingError', /"zzz"/],
  ])(
    'fails with exit 3 and without a retry for %s that finds nothing',
    (_title, entry, name, says) => {
      const told = story({ steps: [{ task: 'a', retry: 5, ...entry }] });
      expect(told.go().kind).toBe('write');
      expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: name });
      expect(told.last).toMatchObject({
        state: '$$error',
        exit: 3,
        failure: { name, step: 'a', message: expect.stringMatching(says) as string },
      });
      expect(told.last).not.toHaveProperty('start');
    },
  );

  it('fails with exit 3 when the definition was taken out of the job', () => {
    const told = story({ steps: ['a', 'b'] });
    told.go();
    told.edit({ definitions: { a: task('a') } });
    told.done();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'TaskMissing' });
  });

  it('of a handler gets the parameters of the handler and all results', () => {
    const told = story({
      steps: ['a', 'b'],
      flow: { error: { name: 'h', params: { text: '{{results.a}}' } } },
    });
    told.go();
    told.done('first');
    told.fail();
    expect(told.live).toMatchObject({
      phase: 'error',
      path: 'error',
      params: { text: 'first' },
      index: 1,
    });
    expect(told.job).toMatchObject({ state: 'h-1' });
  });
});

describe('D4: a step that this engine cannot take', () => {
  const other = { plugins: [], peers: [peer(['a'])] };

  // Shows A-02, C-02.
  it.each([
    ['waits for a free slot', { freeSlots: 0 }, 'slot', 'Step a waits for a free slot.'],
    [
      'is left to another engine',
      other,
      'engine',
      'Step a needs plugin "a": another engine has it.',
    ],
  ])('%s; a new job is not touched', (_title, around, what, because) => {
    const told = story({ steps: ['a'], world: around });
    expect(told.decide()).toMatchObject({ kind: 'wait', because, for: what });
  });

  it.each([
    ['expires', { expires: t0 + 90 }, {}, {}, 90],
    ['must be accepted in time', {}, {}, { accept_timeout: 70 }, 70],
    ['has a hard timeout', {}, { timeout: 80, timeout_mode: 'hard' as const }, {}, 80],
  ])('lets the clock of a new job start when it %s', (_title, job, flow, of, ms) => {
    const told = story({
      steps: ['a'],
      job,
      flow,
      tasks: [task('a', of)],
      world: { freeSlots: 0 },
    });
    expect(told.go()).toMatchObject({
      kind: 'write',
      job: { state: '$$ready' },
    });
    expect(told.job).not.toHaveProperty('next_due');
    expect(told.decide()).toMatchObject({ kind: 'wait', for: 'slot', until: t0 + ms });
  });

  it('waits until the flow has no time left', () => {
    const told = story({ steps: ['a', 'b'], flow: { timeout: 1000 } });
    told.go();
    told.at(100).with({ freeSlots: 0 });
    expect(told.done()).toMatchObject({ kind: 'wait', for: 'slot', until: t0 + 1000 });
    expect(told.at(999).decide().kind).toBe('wait');
    told.at(1000).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'FlowTimeout' });
  });

  it('waits for ever when it is a handler', () => {
    const told = story({ steps: ['a'], flow: { timeout: 1000, error: 'h' } });
    told.go();
    told.at(900).with({ freeSlots: 0 });
    expect(told.fail()).toEqual({
      rule: 'structure',
      kind: 'wait',
      because: 'Step h waits for a free slot.',
      for: 'slot',
      rank: 0,
    });
    expect(told.at(99_000).decide().kind).toBe('wait');
    expect(told.with({ freeSlots: 1 }).go().kind).toBe('claim');
  });
});

describe('a step that no engine can take', () => {
  const unserved = { plugins: ['h', 'b'] };

  it('keeps the job until the time of the flow is over, then says what is missing', () => {
    const told = story({ steps: ['a'], flow: { timeout: 1000 }, world: unserved });
    expect(told.go().kind).toBe('write');
    expect(told.decide()).toEqual({
      rule: 'structure',
      kind: 'wait',
      because: 'Step a needs plugin "a": no engine has it.',
      unserved: true,
      until: t0 + 1000,
    });
    told.at(1000).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'NotServed' });
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining('plugin "a"') as string },
    });
    expect(told.trail).toEqual(['a#1 $$timeout']);
  });

  it('names a missing label too', () => {
    const told = story({ steps: ['a'], tasks: [task('a', { labels: ['gpu'] })] });
    told.go();
    told.at(60_000).go();
    expect(told.job).toMatchObject({
      failure: { message: expect.stringContaining('the label gpu') as string },
    });
  });

  it('is named as well when it is not the first step', () => {
    const told = story({ steps: ['b', 'a'], flow: { timeout: 1000 }, world: unserved });
    told.go();
    told.at(300).done();
    told.at(1000).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'NotServed' });
    expect(told.trail).toEqual(['b#1 $$complete', 'a#1 $$timeout']);
  });

  it('is not tried again, by the step or by the flow, but it is handled', () => {
    const told = story({
      steps: [{ task: 'a', retry: 9 }],
      flow: { timeout: 1000, retry: 9, error: 'h' },
      world: unserved,
    });
    told.go();
    told.at(1000).go();
    expect(told.trail).toEqual(['a#1 $$timeout', 'h#1 $$active']);
  });

  it('is taken as soon as an engine can', () => {
    const told = story({ steps: ['a'], world: unserved });
    told.go();
    expect(
      told
        .at(500)
        .with({ plugins: ['a'] })
        .go().kind,
    ).toBe('claim');
    expect(told.job).not.toHaveProperty('next_due');
  });

  it('waits without end when the flow has no timeout', () => {
    const told = story({ steps: ['a'], flow: { timeout: 0 }, world: unserved });
    expect(told.go()).toMatchObject({ kind: 'write', job: { state: '$$ready' } });
    expect(told.job).not.toHaveProperty('next_due');
    expect(told.at(1e12).decide()).not.toHaveProperty('until');
  });

  it('ends a handler after another time of the flow', () => {
    const told = story({
      steps: ['b'],
      flow: { timeout: 1000, error: 'h' },
      world: { plugins: ['b'] },
    });
    told.go();
    expect(told.at(700).fail()).toMatchObject({ kind: 'wait', until: t0 + 1700 });
    expect(told.at(1699).decide().kind).toBe('wait');
    told.at(1700).go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
    expect(told.trail).toEqual(['b#1 $$error', 'h#1 $$timeout']);
  });
});

describe('accept_timeout', () => {
  const setting = {
    steps: ['a'],
    tasks: [task('a', { accept_timeout: 100, retry: 1 })],
    world: { freeSlots: 0 },
  };

  // Shows E-02.
  it('fails an attempt that nobody took in time, and the retry policy applies', () => {
    const told = story(setting);
    told.go();
    expect(told.at(99).decide().kind).toBe('wait');
    told.at(100).go();
    expect(told.trail).toEqual(['a#1 $$timeout']);
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 200 });
    told.at(200).go();
    expect(told.trail).toEqual(['a#1 $$timeout', 'a#2 $$timeout']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 1, failure: 'AcceptTimeout' });
  });

  it('counts from the end of the step before', () => {
    const told = story({ ...setting, steps: ['b', 'a'], world: {} });
    told.go();
    told.at(500).with({ freeSlots: 0 });
    expect(told.done()).toMatchObject({ kind: 'wait', until: t0 + 600 });
  });

  it('counts from exec_after', () => {
    const told = story({ ...setting, job: { exec_after: t0 + 5000 } });
    told.go();
    expect(told.at(5000).decide()).toMatchObject({ kind: 'wait', until: t0 + 5100 });
  });

  it('counts from the end of a pause', () => {
    const told = story({ ...setting, job: { paused: true } });
    told.go();
    told.at(5000).edit({ paused: false });
    expect(told.go().kind).toBe('write');
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 5100 });
  });

  it('counts from the end of a pause between two steps', () => {
    const told = story({ ...setting, steps: ['b', 'a'], world: {}, job: {} });
    told.go();
    told.edit({ paused: true }).done();
    told.at(5000).edit({ paused: false }).with({ freeSlots: 0 });
    expect(told.go().kind).toBe('write');
    expect(told.decide()).toMatchObject({ kind: 'wait', until: t0 + 5100 });
    expect(told.trail).toEqual(['b#1 $$complete']);
  });

  it('does not fail a step that is taken in time', () => {
    const told = story(setting);
    told.go();
    expect(told.at(99).with({ freeSlots: 1 }).go().kind).toBe('claim');
  });
});

describe('a claim', () => {
  it.each([
    ['tells the edition of the plugin', `sha256:${'0123456789abcdef'.repeat(4)}`, '0123456789ab'],
    ['says nothing where it is not known', undefined, undefined],
  ])('%s', (_title, hash, short) => {
    const told = story({ steps: ['a'], world: hash === undefined ? {} : { hash } });
    told.go();
    expect(told.live.plugin_hash).toBe(short);
  });
});
