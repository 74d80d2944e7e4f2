import { describe, expect, it } from 'vitest';
import { answersFor } from '../../src/cli/answers.js';
import { fillPlaceholders, openPlaceholders, setAt } from '../../src/cli/placeholders.js';
import { testIo } from './terminal.js';

const job = {
  type: 'job',
  flow: 'mailtest',
  params: {
    'mail-0': { to: '[[to]]', cc: ['[[to]]', 'x'], subject: 'To [[to]]: [[ my subject ]]' },
  },
};
const { io } = testIo({ cwd: '/' });
const answer = (set: readonly string[]) => answersFor({ doc: job, file: 'j.json', set }, io);

describe('openPlaceholders', () => {
  it('names every label once, with the dotted paths of its values', () => {
    expect(openPlaceholders(job)).toEqual([
      { label: 'to', paths: ['params.mail-0.to', 'params.mail-0.cc.0', 'params.mail-0.subject'] },
      { label: 'my subject', paths: ['params.mail-0.subject'] },
    ]);
  });

  it('leaves the answered ones out', () => {
    const filled = fillPlaceholders(job, new Map([['to', 'a@b']]));
    expect(openPlaceholders(filled).map(({ label }) => label)).toEqual(['my subject']);
    expect(filled).toMatchObject({ params: { 'mail-0': { cc: ['a@b', 'x'] } } });
  });
});

describe('setAt', () => {
  it('makes objects on the way, goes into lists and changes nothing else', () => {
    expect(setAt({ a: { b: [1, { c: 2 }] }, z: 1 }, ['a', 'b', '1', 'c'], 3)).toEqual({
      a: { b: [1, { c: 3 }] },
      z: 1,
    });
    expect(setAt({}, ['params', 'x-0', 'y'], true)).toEqual({ params: { 'x-0': { y: true } } });
    expect(setAt({ a: 'text' }, ['a', 'b'], 1)).toEqual({ a: { b: 1 } });
  });
});

describe('answersFor', () => {
  // Shows B-13.
  it('takes answers by label', async () => {
    const filled = await answer(['to=me@example.com', 'my subject=a=b']);
    expect(filled).toMatchObject({
      params: { 'mail-0': { to: 'me@example.com', subject: 'To me@example.com: a=b' } },
    });
  });

  it('takes answers by dotted path, and other values as JSON', async () => {
    const filled = await answer([
      'params.mail-0.to=1',
      'params.mail-0.cc=["a"]',
      'params.mail-0.subject=7',
      'priority=5',
      'params.extra.deep=true',
    ]);
    expect(filled).toMatchObject({
      priority: 5,
      params: { 'mail-0': { to: '1', cc: ['a'], subject: '7' }, extra: { deep: true } },
    });
  });

  it('names all that is missing, with paths, when nobody can be asked', async () => {
    await expect(answer([])).rejects.toMatchObject({
      code: 'placeholders_open',
      exit: 2,
      message: expect.stringMatching(
        /\[\[to\]\] at params\.mail-0\.to, .*\[\[my subject\]\] at params\.mail-0\.subject/,
      ) as string,
    });
  });

  it.each([
    [['to=', 'my subject=x']],
    [['to=  ', 'my subject=x']],
    [['params.mail-0.to=', 'my subject=x']],
  ])('takes an empty text for no answer: %j', async (set) => {
    await expect(answer(set)).rejects.toMatchObject({
      code: 'placeholders_open',
      message: expect.stringMatching(/known: \[\[to\]\] at [^[]*$/) as string,
    });
  });

  it('asks again after an empty answer', async () => {
    const said = ['', '  ', 'a@b', 'Hello'];
    const asked: string[] = [];
    const terminal = testIo({ cwd: '/' });
    const text = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve(said.shift() ?? '');
    };
    const ask = () => Promise.resolve({ text, hidden: text, confirm: () => Promise.resolve(true) });
    const interactive = { ...terminal.io, interactive: true };
    const filled = await answersFor({ doc: job, file: 'j.json', set: ['to='] }, interactive, ask);
    expect(filled).toMatchObject({ params: { 'mail-0': { subject: 'To a@b: Hello' } } });
    expect(asked).toHaveLength(4);
    expect(terminal.printed().err.match(/needs a value for \[\[to\]\]/g)).toHaveLength(2);
  });

  it.each([['nolabel=x'], ['novalue'], ['=x']])('refuses --set %s', async (set) => {
    await expect(answer([set])).rejects.toMatchObject({ code: 'usage' });
  });
});
