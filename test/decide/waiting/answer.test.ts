import { describe, expect, it } from 'vitest';
import { signalAnswer } from '../../../src/reading/signal-answer.js';
import { task } from '../../support/builders.js';
import { begun, story } from '../story.js';

const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } };

describe('the sender of a signal', () => {
  it('N6: is answered by the mapping of the wait, once, in the step that took the signal', () => {
    const told = begun([{ wait: { signal: 'add', answer: '{"sum": data.n + 1}' } }, 'a']);
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'pending' });
    const asked = told.signal('add', { n: 1 }).decide();
    expect(asked).toMatchObject({
      kind: 'look_up',
      questions: [
        {
          id: '0.wait.answer sent-1',
          expression: '{"sum": data.n + 1}',
          context: { data: { n: 1 }, results: {}, step: { path: '0', name: 'wait' } },
        },
      ],
    });
    told.answering({ '0.wait.answer sent-1': { sum: 2 } }).go();
    expect(told.steps[0]).toMatchObject({
      ...{ state: '$$complete', result: { n: 1 }, signal_id: 'sent-1', answer: { sum: 2 } },
    });
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'answered', answer: { sum: 2 } });
    told.did('a');
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'answered', answer: { sum: 2 } });
    expect(signalAnswer(told.job, 'sent-2')).toEqual({ kind: 'unanswered' });
  });

  it('N6: is answered with the result of a later step', () => {
    const wait = { wait: { signal: 'add', answer: { step: 'ship' } } };
    const told = begun([wait, 'a', { task: 'b', name: 'ship' }]).signal('add', 1);
    expect(told.steps[0]).toMatchObject({ state: '$$complete', answer_by: 'ship' });
    told.did('a');
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'pending' });
    told.did('b', { sent: true });
    const answer = { kind: 'answered', answer: { sent: true }, result_of: 'ship' };
    expect(signalAnswer(told.job, 'sent-1')).toEqual(answer);
    const none = begun([wait]).signal('add', 1);
    expect(signalAnswer(none.job, 'sent-1')).toEqual({ kind: 'unanswered' });
  });

  it('is answered with nothing where the wait says nothing, or its mapping gives nothing', () => {
    const told = begun([{ wait: { signal: 'add' } }, 'a']).signal('add', 1);
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'answered', answer: null });
    const empty = begun([{ wait: { signal: 'add', answer: 'data.x' } }, 'a']);
    empty.answering({ '0.wait.answer sent-1': undefined }).signal('add', 1).go();
    expect(empty.steps[0]).toMatchObject({ answer: null });
  });

  it('N5: is refused when the data do not suit the schema; the step waits on', () => {
    const told = begun([{ name: 'adding', wait: { signal: 'add', schema } }, 'a']);
    told.signal('add', { n: 'x' });
    const because = 'The data do not suit the "schema" of step "adding": data.n must be integer.';
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'refused', because });
    expect(told.steps[0]).toMatchObject({ state: '$$waiting' });
    expect(told.job).toMatchObject({
      signals: [],
      requests: [{ id: 'sent-1', action: 'signal', name: 'add', refused: because }],
    });
    told.signal('add').signal('add', { n: 2 });
    expect(told.steps[0]).toMatchObject({ state: '$$complete', result: { n: 2 } });
    expect(told.running).toEqual(['a']);
  });

  it('N5: is refused with all that is known of a signal, also one too large to be checked', () => {
    const told = story({ steps: [{ wait: { signal: 'add', schema } }, 'a'] });
    const data = { n: 1, list: Array.from({ length: 50_001 }, () => 1) };
    const sent = { id: 's', name: 'add', at: 1, by: 'ada', revision: 3 };
    told.job = { ...told.job, signals: [{ ...sent, data }] } as unknown as typeof told.job;
    told.go();
    expect(told.job).toMatchObject({
      requests: [
        {
          id: 's',
          revision: 3,
          by: 'ada',
          refused: expect.stringMatching(/data.* has more than 50000/) as string,
        },
      ],
    });
  });

  it('is answered with nothing where a handler waits', () => {
    const told = begun([{ task: 'a', error: 'h' }], { tasks: [task('h')] }).broke('a');
    told.end({ kind: 'wait', signal: 'add' }, 'h');
    told.signal('add', 1);
    expect(signalAnswer(told.job, 'sent-1')).toEqual({ kind: 'answered', answer: null });
  });

  it('N5: is told the first mistakes of many', () => {
    const many = { type: 'object', required: ['a', 'b', 'c', 'd', 'e'] };
    const told = begun([{ wait: { signal: 'add', schema: many } }]).signal('add', {});
    expect(signalAnswer(told.job, 'sent-1')).toMatchObject({
      because: expect.stringMatching(/data\.c is missing \(and 2 more\)\.$/) as string,
    });
  });

  it('fails the step when schema or mapping cannot be used', () => {
    const bad = begun([{ wait: { signal: 'add', schema: { type: 'nothing' } } }]).signal('add', 1);
    expect(bad.ending).toMatchObject({ exit: 3, failure: 'SchemaInvalid' });
    expect(signalAnswer(bad.job, 'sent-1')).toMatchObject({ kind: 'failed' });
    const told = begun([{ wait: { signal: 'add', answer: 'x' } }]);
    const broken = { ok: false, reason: 'it is broken' } as const;
    told.with({ answers: { '0.wait.answer sent-1': broken } }).signal('add', 1);
    expect(told.ending).toMatchObject({ exit: 3, failure: 'ExpressionError' });
  });
});

it.each([
  [[{ signal_id: 's', state: '$$error', name: 'w' }], 'failed', 'Step w failed.'],
  [[{ signal_id: 's', state: '$$error', failure: { message: 'No.' } }], 'failed', 'No.'],
  [[{ signal_id: 's', state: '$$error', name: 'w', failure: {} }], 'failed', 'Step w failed.'],
  ['none', 'pending', undefined],
])('a job with the steps %j is read as it stands', (steps, kind, because) => {
  expect(signalAnswer({ steps }, 's')).toMatchObject({ kind, ...(because && { because }) });
});

it('a step without a result answers with null', () => {
  const steps = [
    { signal_id: 's', state: '$$complete', answer_by: 'b' },
    { name: 'b', phase: 'main', state: '$$complete' },
  ];
  const answer = { kind: 'answered', answer: null, result_of: 'b' };
  expect(signalAnswer({ steps, state: '$$cancelled' }, 's')).toEqual(answer);
});
