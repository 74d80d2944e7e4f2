import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeCurrent, versionBefore } from '../../../src/decide/versions/make-current.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { chooseVersion } from '../../../src/model/flow-versions.js';

const doc = (_id: string, more: object = {}): StoredDocument => ({
  ...{ _id, _rev: '1-x', type: 'flow', name: 'f', owner: 'o' },
  ...more,
});
const now = 100;
const currentOf = (docs: readonly StoredDocument[]): string | undefined => {
  const choice = chooseVersion(docs);
  return choice.kind === 'chosen' ? choice.doc._id : undefined;
};

/** The documents after each of the writes. */
function after(docs: readonly StoredDocument[], writes: readonly StoredDocument[]) {
  return writes.map((_, at) => {
    const written = new Map(writes.slice(0, at + 1).map((one) => [one._id, one]));
    return docs.map((one) => written.get(one._id) ?? one);
  });
}

describe('a version that is made current', () => {
  const plain = doc('plain');
  const one = doc('one', { version: '1' });
  const two = doc('two', { version: '2' });
  const marked = { ...one, current: true };

  // Shows X-28.
  it.each<
    [title: string, docs: readonly StoredDocument[], target: string, writes: readonly object[]]
  >([
    [
      'dates the one before that was marked by hand',
      [marked, two],
      'two',
      [
        { _id: 'one', current: true, current_since: 100 },
        { _id: 'two', current: true, current_since: 101 },
        { _id: 'one', current_since: 100 },
      ],
    ],
    [
      'is marked beside one that was current without a mark',
      [plain, two],
      'two',
      [
        { _id: 'plain', current_since: 100 },
        { _id: 'two', current: true, current_since: 101 },
      ],
    ],
    [
      'comes after what others say, whatever the clock says',
      [{ ...marked, current_since: 500 }, two],
      'two',
      [
        { _id: 'two', current: true, current_since: 502 },
        { _id: 'one', current_since: 500 },
      ],
    ],
    [
      'takes the marks of several',
      [marked, { ...two, current: true }, plain],
      'plain',
      [{ _id: 'plain', current: true, current_since: 101 }, { _id: 'one' }, { _id: 'two' }],
    ],
    ['needs nothing when it is current', [marked, two], 'one', []],
    ['is nothing that is not there', [marked, two], 'three', []],
  ])('%s', (_title, docs, target, writes) => {
    const rest = { _rev: '1-x', type: 'flow', name: 'f', owner: 'o' };
    const version = (id: unknown) => docs.find(({ _id }) => _id === id)?.['version'];
    const made = makeCurrent(docs, target, { now });
    expect(made).toEqual(
      writes.map((write) => {
        const of = version((write as { readonly _id: string })._id);
        return { ...rest, ...(of === undefined ? {} : { version: of }), ...write };
      }),
    );
  });

  it('FV4: is the only one, or not yet, after each write', () => {
    const one = fc.record(
      { current: fc.boolean(), current_since: fc.integer({ min: 0, max: 200 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 4 }), fc.nat(3), (all, at) => {
        const docs = all.map((more, i) =>
          doc(`d${i}`, { ...more, ...(i === 0 ? {} : { version: String(i) }) }),
        );
        const target = docs[at % docs.length]?._id ?? '';
        const before = currentOf(docs);
        const moments = after(docs, makeCurrent(docs, target, { now }));
        const seen = moments.map(currentOf);
        if (before !== undefined) expect([before, target]).toEqual(expect.arrayContaining(seen));
        expect(currentOf(moments.at(-1) ?? docs)).toBe(target);
      }),
    );
  });

  it('FV5: is found again by a rollback, and back', () => {
    const move = (docs: readonly StoredDocument[], target: string) =>
      after(docs, makeCurrent(docs, target, { now })).at(-1) ?? docs;
    const third = doc('three', { version: '3' });
    const docs = move([marked, two, third], 'two');
    expect(versionBefore(docs)?._id).toBe('one');
    const byAnn = makeCurrent(docs, 'one', { now, by: 'ann' });
    expect(byAnn[0]).toMatchObject({ _id: 'one', current_by: 'ann' });
    const [again] = makeCurrent(after(docs, byAnn).at(-1) ?? docs, 'two', { now });
    expect(again).not.toHaveProperty('current_by');
    const back = move(docs, 'one');
    expect(versionBefore(back)?._id).toBe('two');
    expect(versionBefore([plain, third])?._id).toBe('three');
    expect(versionBefore([marked, two, third])).toBeUndefined();
    expect(versionBefore([two, third])).toBeUndefined();
    const [a, b] = [
      { ...two, current_since: 5 },
      { ...third, current_since: 7 },
    ];
    expect(versionBefore([marked, a, b])?._id).toBe('three');
  });
});
