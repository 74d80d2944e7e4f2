import { unknownWorld } from '../../src/decide/world.js';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/decide/queries.js';
import { BigResult } from '../../src/model/big-result.js';
import { settle } from '../../src/decide/finish/settle.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { newJob, t0, task } from '../support/builders.js';
import { story, type Setting, type Story } from './story.js';

const name = 'result-0-1.json';
const reference = { $attachment: name, bytes: 70_000 };
const whole = { n: 7, text: 'much' };
const big = new BigResult(whole, 70_000);

/** Step `a` has given a large result; what comes next is the setting's. */
function after(next: WrittenNode[], more: Partial<Setting> = {}): Story {
  const told = story({ ...more, steps: ['a', ...next] });
  told.go();
  return stored(told);
}

/** The attempt at work gives a large result, and the revision with it is in the database. */
function stored(told: Story): Story {
  const { claim, path } = told.live;
  const settled = settle(
    told.job,
    { schema: unknownWorld.schema, claim, outcome: { kind: 'done', result: whole, big } },
    t0,
  );
  if (settled.kind === 'fenced') throw new Error(settled.because);
  told.job = settled.job;
  return told.edit({ _attachments: { [`result-${path}-1.json`]: { stub: true } } });
}

describe('a large result', () => {
  it('becomes an attachment beside others, and leaves a reference in its step', () => {
    const kept = { 'note.txt': { stub: true } };
    const told = story({ steps: ['a'], job: { _attachments: kept } });
    told.go();
    told.end({ kind: 'done', result: whole, big });
    expect(told.job).toMatchObject({
      steps: [{ state: '$$complete', result: reference }],
      _attachments: { ...kept, [name]: { content_type: 'application/json', data: big } },
    });
  });

  it('stays in the document when it is the decisions of a decider', () => {
    const told = story({ steps: [{ decider: 'd', name: 'd' }] });
    told.with({ plugins: ['d'] }).go();
    const result = [{ complete: 1 }];
    const settled = settle(
      told.job,
      {
        schema: unknownWorld.schema,
        claim: told.live.claim,
        outcome: { kind: 'done', result, big },
      },
      t0,
    );
    expect(settled).toMatchObject({ kind: 'settled', job: { steps: [{ result }] } });
    expect('job' in settled && settled.job).not.toHaveProperty('_attachments');
  });

  it('of a child job becomes an attachment of the parent', () => {
    const told = story({ steps: [{ flow: 'inner', name: 'c' }, 'b'] });
    told.go();
    const final = { ...newJob(), state: '$$complete', exit: 0, result: whole } as const;
    told.with({
      children: { 'j:0:1': { kind: 'final', job: final, big } },
      contents: { [name]: whole },
    });
    told.go();
    expect(told.job).toMatchObject({
      steps: [{ state: '$$complete', result: reference }, { task: 'b' }],
      _attachments: { [name]: { data: big } },
    });
  });
});

describe('what needs a large result', () => {
  const asks = { kind: 'look_up', attachments: [name] };

  it('is read for the answer to a signal', () => {
    const wait = { wait: { signal: 'add', answer: 'results.a.n' } };
    const told = after([wait]);
    told.go();
    told.signal('add', 1);
    expect(told.decide()).toMatchObject(asks);
    told.with({ contents: { [name]: whole } }).go();
    told.answering({ '1.wait.answer sent-1': 7 }).go();
    expect(told.steps[1]).toMatchObject({ answer: 7 });
  });
  const n = { x: '{{results.a.n}}' };
  const cases: readonly [string, WrittenNode[], Partial<Setting>][] = [
    ['the parameters of a step', [{ task: 'b', params: n }], {}],
    ['a condition', [{ task: 'b', when: 'results.a.n = 7' }], {}],
    ['the list of a map', [{ structure: 'map', map: { over: 'results.a.n', do: 'b' } }], {}],
    ['a delay', [{ delay: '{{results.a.n}}' }], {}],
    ['the output of the flow', [], { flow: { output: 'results.a.n' } }],
  ];
  it.each(cases)('asks for it first: %s', (_title, next, more) => {
    expect(after(next, more).decide()).toMatchObject(asks);
  });

  it('asks for it once for steps beside each other', () => {
    const both = [
      { task: 'b', params: n },
      { task: 'c', params: n },
    ];
    const told = after([{ structure: 'parallel', parallel: both }], { world: { freeSlots: 9 } });
    expect(told.decide()).toMatchObject({ kind: 'look_up', attachments: [name, name] });
  });

  it('does not ask for it before a step whose parameters take nothing of it', () => {
    expect(after(['b']).decide()).toMatchObject({ kind: 'claim' });
  });

  const known = { contents: { [name]: whole } };

  it('gets it in the parameters', () => {
    const told = after([{ task: 'b', params: n }]).with(known);
    told.go();
    expect(told.last).toMatchObject({ state: '$$active', params: { x: 7 } });
  });

  it('gets it while it is on its way into the database', () => {
    const told = story({ steps: ['a', { task: 'b', params: n }] });
    told.go();
    told.end({ kind: 'done', result: whole, big });
    expect(told.last).toMatchObject({ state: '$$active', params: { x: 7 } });
  });

  it('gets it by a mapping', () => {
    const told = after([{ task: 'b', stdio: { n: 'm' } }]).with(known);
    told.go();
    expect(told.last).toMatchObject({ params: { m: 7 } });
  });

  it('gets it from the handler that recovered a decider', () => {
    const steps = [
      { decider: 'd', name: 'd', error: 'h' },
      { task: 'b', params: { x: '{{results.d.n}}' } },
    ];
    const plugins = ['d', 'h', 'b'];
    const told = story({ steps, tasks: [task('h')], world: { plugins } });
    told.go();
    const failure = { name: 'Broken', message: 'No decision.' };
    told.end({ kind: 'failed', failure, retryable: false });
    const kept = `result-${told.live.path}-1.json`;
    stored(told);
    expect(told.decide()).toMatchObject({ kind: 'look_up', attachments: [kept] });
    told.with({ contents: { [kept]: whole } }).go();
    expect(told.last).toMatchObject({ task: 'b', params: { x: 7 } });
  });

  const questions: readonly [string, WrittenNode[], Partial<Setting>][] = cases.filter(
    ([title]) => title.startsWith('a c') || title.startsWith('the l') || title.startsWith('the o'),
  );
  it.each(questions)('gets it in the context of a question: %s', (_title, next, more) => {
    const intent = after(next, more).with(known).decide() as { questions: readonly Question[] };
    expect(intent.questions[0]?.context.results).toMatchObject({ a: whole });
  });

  it('gets what only looks like a reference as it is', () => {
    const told = story({ steps: ['a', { task: 'b', params: { x: '{{results.a}}' } }] });
    told.go();
    told.done({ $attachment: 'other.json', bytes: 1 });
    expect(told.last).toMatchObject({ params: { x: { $attachment: 'other.json', bytes: 1 } } });
  });
});
