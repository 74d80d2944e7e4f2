import { describe, expect, it } from 'vitest';
import { formFactsOf, withoutConcealedAnswers } from '../../src/reading/form-facts.js';
import { answeredWords, askedWords, timerWords, wayWords } from '../../src/reading/form-words.js';

const step = (form: object, more: object = {}) => ({
  ...{ path: '0', name: 'sign', state: '$$waiting', attempt: 1, accepted: 0, signal: 'sign' },
  form,
  ...more,
});
const reminder = (at: number, told?: number) => ({
  event: 'reminder' as const,
  at,
  ...(told === undefined ? {} : { told }),
});

describe('what a step asks of people', () => {
  // Shows X-13.
  it('is read with what was sent, what is to come and who may answer later', () => {
    const timers = [reminder(5, 6), { event: 'escalated' as const, at: 9 }, reminder(20)];
    const form = { title: 'T', assignee: ['ann'], due: 30, timers, escalate: { group: ['heads'] } };
    const ids = ['reminder-0-0-5:0', 'reminder-0-0-5:notify:DEFAULT:1', 'waiting-0-0:0'];
    const notifications = ids.map((id) => ({ id: `j:notify:1:${id}`, run: 1, at: 6 }));
    const links = [{ for: 'ann', hash: 'h', until: 30 }];
    expect(
      formFactsOf({ _id: 'j', steps: [step({ ...form, links }, { until: 99 })], notifications }),
    ).toEqual([
      {
        ...{ path: '0', step: 'sign', attempt: 1, state: '$$waiting', people: 'ann' },
        ...{ title: 'T', since: 0, until: 99, due: 30 },
        timers: [
          { ...reminder(5, 6), messages: 2 },
          { event: 'escalated', at: 9, messages: 0, to: 'the group "heads"' },
          { ...reminder(20), messages: 0 },
        ],
        links: [{ for: 'ann', until: 30 }],
      },
    ]);
  });

  it('is nothing where no step asks, and of a step that somebody has edited what is left', () => {
    expect(formFactsOf({})).toEqual([]);
    expect(formFactsOf({ steps: [null, {}, { form: 5 }, { form: { timers: 'x' } }] })).toEqual([]);
    const timers = [{ event: 'escalated', at: 9 }];
    expect(formFactsOf({ steps: [{ form: { timers } }] })).toMatchObject([
      { path: '', step: '', state: '', attempt: 1, timers: [{ at: 9, messages: 0 }] },
    ]);
  });

  it.each<[what: string, ended: object, answered: object]>([
    ['an answer', { result: { n: 1, by: 'ann', at: 7, as: 'x' } }, { answer: { n: 1 } }],
    ['none', {}, {}],
    ['one that is no object', { result: 5 }, { answer: 5 }],
    ['a refusal', { failure: { answer: { approved: false } } }, { answer: { approved: false } }],
  ])('tells of %s who gave it, when and how', (_what, ended, answered) => {
    const form = { answered: { by: 'ann', at: 7, via: 'inbox' } };
    const [facts] = formFactsOf({ steps: [step(form, { state: '$$complete', ...ended })] });
    expect(facts?.answered).toEqual({ by: 'ann', at: 7, via: 'inbox', ...answered });
  });

  it('hides the fields that are not shown, in steps, failures and signals', () => {
    const form = { concealed: ['pin', 'other'], answered: { at: 7 } };
    const answer = { pin: '1234', n: 1 };
    const job = {
      steps: [
        step(form, { result: answer }),
        step(form, { failure: { answer } }),
        step({}, { result: { pin: 'no form of it', n: 2 }, signal: 'b' }),
        { task: 'a', result: { pin: 1 } },
        null,
      ],
      signals: [
        { name: 'sign', data: answer },
        { name: 'b', data: { pin: 2 } },
        'x',
        { name: 'sign' },
      ],
    };
    const hidden = { pin: '[not shown]', n: 1 };
    const shown = withoutConcealedAnswers(job);
    expect(shown.steps.slice(0, 2)).toMatchObject([
      { result: hidden },
      { failure: { answer: hidden } },
    ]);
    expect(shown.steps.slice(2)).toEqual(job.steps.slice(2));
    expect(shown.signals).toEqual([{ name: 'sign', data: hidden }, ...job.signals.slice(1)]);
    expect(formFactsOf(job)[0]?.answered).toEqual({ at: 7, answer: hidden });
    const { signals: _signals, ...without } = job;
    expect(withoutConcealedAnswers(without)).not.toHaveProperty('signals');
    const plain = { steps: [step({}, { result: answer })] };
    expect(withoutConcealedAnswers(plain)).toBe(plain);
  });
});

describe('what is said of a form', () => {
  const when = (at: number) => `at ${at}`;

  it.each([
    [{ ...reminder(5), messages: 0 }, 'Reminder at 5'],
    [{ ...reminder(5, 6), messages: 0 }, 'Reminded at 6, no messages sent'],
    [{ ...reminder(5, 6), messages: 1 }, 'Reminded at 6, 1 message sent'],
    [{ event: 'due' as const, at: 5, messages: 0 }, 'Due at 5'],
    [{ event: 'due' as const, at: 5, told: 6, messages: 2 }, 'Due since at 5, 2 messages sent'],
    [
      { event: 'escalated' as const, at: 5, messages: 0, to: 'eve' },
      'Escalates at 5: eve may answer as well',
    ],
    [
      { event: 'escalated' as const, at: 5, told: 6, messages: 1 },
      'Escalated at 6: others may answer as well, 1 message sent',
    ],
  ])('tells a timer (%#)', (timer, words) => {
    expect(timerWords(timer, when)).toBe(words);
  });

  it('tells the last timers that went off, the next ones, and links that are good', () => {
    const timers = [1, 2, 3].map((at) => ({ ...reminder(at, at), messages: 0 }));
    const next = [4, 5, 6, 7].map((at) => ({ ...reminder(at), messages: 0 }));
    const facts = {
      ...{ path: '0', step: 's', attempt: 1, state: '', people: 'ann' },
      timers: [...timers, { event: 'due' as const, at: 4, messages: 0 }, ...next],
      links: [
        { for: 'ann', until: 60_100 },
        { for: 'bob', until: 50 },
      ],
    };
    expect(askedWords(facts, 100, when)).toEqual([
      'Reminded at 2, no messages sent.',
      'Reminded at 3, no messages sent.',
      'Reminder at 4.',
      'Reminder at 5.',
      'Reminder at 6.',
      'And 2 more.',
      'The link of ann works for 1 min.',
    ]);
    expect(askedWords({ ...facts, timers, links: [] }, 100, when)).toEqual([
      'Reminded at 2, no messages sent.',
      'Reminded at 3, no messages sent.',
      'And 1 more.',
    ]);
  });

  it.each([
    [{ as: 'link' }, 'by a one-time link'],
    [{ via: 'link' }, 'by a one-time link'],
    [{ via: 'page' }, 'on the page of the job'],
    [{ via: 'inbox' }, 'in the inbox'],
    [{ via: 'api' }, 'over the API'],
    [{ via: 'command' }, 'by `tws answer`'],
    [{ via: 'pigeon' }, 'by "pigeon"'],
    [{}, 'by a signal'],
  ])('tells how %j came', (answered, words) => {
    expect(wayWords(answered)).toBe(words);
  });

  it('tells who answered what', () => {
    const facts = {
      ...{ path: '0', step: 's', attempt: 1, state: '', people: 'ann', timers: [], links: [] },
    };
    const at = 60_000;
    expect(answeredWords(facts, 0)).toBeUndefined();
    expect(answeredWords({ ...facts, answered: { at } }, 0)).toBe(
      'Step "s" was answered at 1970-01-01T00:01:00.000Z (in 1 min) by a signal.',
    );
    const answered = { by: 'root', as: 'admin', via: 'api', at, answer: { n: 1 } };
    expect(answeredWords({ ...facts, answered }, 0)).toBe(
      'Step "s" was answered by root as an administrator at 1970-01-01T00:01:00.000Z (in 1 min) over the API: {"n":1}.',
    );
  });
});
