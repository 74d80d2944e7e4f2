import { describe, expect, it } from 'vitest';
import {
  ambiguityText,
  byVersion,
  chooseVersion,
  currentOnly,
  versionName,
  versionOf,
  whyNotChosen,
  type VersionAsk,
} from '../../src/model/flow-versions.js';

type Doc = Readonly<Record<string, unknown>> & { readonly _id: string };

const doc = (_id: string, more: Readonly<Record<string, unknown>> = {}): Doc => ({ _id, ...more });
const plain = doc('plain');
const one = doc('one', { version: '1' });
const two = doc('two', { version: '2' });
const current = (of: Doc, since?: number): Doc => ({
  ...of,
  current: true,
  ...(since === undefined ? {} : { current_since: since }),
});

/** The id of the document that is chosen, or what else became of it, with what it tells. */
function chosen(docs: readonly Doc[], ask?: VersionAsk): string {
  const choice = chooseVersion(docs, ask);
  switch (choice.kind) {
    case 'chosen':
      return choice.doc._id;
    case 'none':
      return 'none';
    case 'absent':
      return `absent: ${choice.versions.join(' ')}`;
    case 'ambiguous':
      return `${choice.cause.kind}: ${choice.docs.map(({ _id }) => _id).join(' ')}`;
  }
}

describe('of the documents of one flow', () => {
  // Shows A-09.
  it.each<[title: string, docs: readonly Doc[], is: string]>([
    ['none, where there is none', [], 'none'],
    ['the only one', [one], 'one'],
    ['the only one, although it says that it is not current', [{ ...one, current: false }], 'one'],
    ['the one with "current": true', [plain, one, current(two)], 'two'],
    ['else the one without a version', [one, plain, two], 'plain'],
    ['an empty version is none', [doc('empty', { version: '' }), one], 'empty'],
    ['none, where all have a version and none is marked', [one, two], 'none_current: one two'],
    ['none, where two are marked', [current(one), current(two)], 'several_current: one two'],
    ['the one that was marked last', [current(one, 5), current(two, 7)], 'two'],
    ['the same in another order', [current(two, 7), current(one, 5)], 'two'],
    [
      'none, where one does not say since when',
      [current(one), current(two, 7)],
      'several_current: one two',
    ],
    ['the higher version, where both say the same time', [current(one, 7), current(two, 7)], 'two'],
    ['a version, where it and none say the same time', [current(one, 7), current(plain, 7)], 'one'],
    [
      'none, where a version is twice there',
      [one, doc('again', { version: 1 }), current(two)],
      'same_version: one again',
    ],
    ['none, where two have no version', [plain, doc('again')], 'same_version: plain again'],
  ])('the current one is %s', (_title, docs, is) => {
    expect(chosen(docs)).toBe(is);
  });

  it.each<[title: string, docs: readonly Doc[], ask: VersionAsk, is: string]>([
    ['that version', [one, current(two)], { version: '1' }, 'one'],
    ['a number as well', [doc('n', { version: 2.1 }), one], { version: '2.1' }, 'n'],
    [
      'none of another name',
      [doc('ten', { version: '10' }), two, plain],
      { version: '3' },
      'absent: 2 10',
    ],
    [
      'none that is twice there',
      [one, doc('again', { version: '1' }), two],
      { version: '1' },
      'same_version: one again',
    ],
    ['one beside twins of another version', [plain, doc('again'), one], { version: '1' }, 'one'],
    [
      'that version of a job that runs',
      [one, current(two)],
      { version: '1', orCurrent: true },
      'one',
    ],
    ['the one without of a job that runs', [plain, current(two)], { orCurrent: true }, 'plain'],
    [
      'the current one where that of the job is gone',
      [one, current(two)],
      { version: '0', orCurrent: true },
      'two',
    ],
    [
      'the current one where that of the job is twice there',
      [doc('o', { version: '0' }), doc('p', { version: '0' })],
      { version: '0', orCurrent: true },
      'same_version: o p',
    ],
  ])('a job that asks for it gets %s', (_title, docs, ask, is) => {
    expect(chosen(docs, ask)).toBe(is);
  });

  it('moves "current" in steps of which each leaves exactly one', () => {
    const steps = [
      [current(one), two],
      [current(one, 5), two],
      [current(one, 5), current(two, 6)],
      [one, current(two, 6)],
    ];
    expect(steps.map((docs) => chosen(docs))).toEqual(['one', 'one', 'two', 'two']);
  });
});

describe('versions', () => {
  it('are read as texts', () => {
    expect([2, 2.5, 'a', '', null, {}].map((version) => versionOf({ version }))).toEqual([
      '2',
      '2.5',
      'a',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('are sorted as people count', () => {
    expect(['10', '1.10', '2', '1.9'].sort(byVersion)).toEqual(['1.9', '1.10', '2', '10']);
  });

  it('are called by their name', () => {
    expect([versionName('2'), versionName(undefined)]).toEqual([
      'version "2"',
      'without a version',
    ]);
  });

  it.each([
    [
      [one, two],
      undefined,
      'has several versions and none of them is current; set "current": true in one of one, two.',
    ],
    [
      [current(one), current(two)],
      undefined,
      'has "current": true in several documents (one, two); leave it in one.',
    ],
    [
      [plain, doc('again')],
      undefined,
      'is defined by several documents without "version" (plain, again); keep one, or give each a "version" of its own.',
    ],
    [
      [one, doc('again', { version: '1' })],
      undefined,
      'is defined by several documents of version "1" (one, again); keep one, or give each a "version" of its own.',
    ],
    [[one, two], '3', 'has no version "3"; it has 1, 2.'],
    [[plain], '3', 'has no version "3"; its document has none.'],
  ])('say in one sentence why none of them counts', (docs, version, says) => {
    const choice = chooseVersion(docs, { version });
    if (choice.kind === 'chosen' || choice.kind === 'none') throw new Error('One is chosen.');
    expect(whyNotChosen(choice, version)).toBe(says);
    if (choice.kind === 'ambiguous') {
      expect(
        ambiguityText(
          choice.cause,
          choice.docs.map(({ _id }) => _id),
        ),
      ).toBe(says);
    }
  });

  it('leave of each flow the current one', () => {
    const key = ({ name }: Doc): string => String(name);
    const docs = [
      one,
      current(two),
      doc('x', { name: 'b', version: '1' }),
      doc('y', { name: 'b', version: '2' }),
    ];
    expect(currentOnly(docs, key).map(({ _id }) => _id)).toEqual(['two', 'x', 'y']);
  });
});
