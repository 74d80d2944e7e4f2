import { expect, test } from 'vitest';

import { parseDoc } from '../../src/embedded/databases/writes.js';
import { formatSequence, parseSequence } from '../../src/embedded/feeds/sequence.js';
import { readRelated } from '../../src/embedded/http/multipart.js';
import { createOperationLock } from '../../src/embedded/storage/operation-lock.js';
import { latestOf, leafRevisions } from '../../src/embedded/storage/rev-tree.js';
import type { RevTree } from '../../src/embedded/storage/pouch.js';

test('goes on from a sequence of this database and starts over with one of another', () => {
  const seq = formatSequence(12, 'this');
  expect(seq).toMatch(/^12-g1AAAA./);
  expect(parseSequence(seq, 'this')).toBe(12);
  expect(parseSequence(JSON.stringify(seq), 'this')).toBe(12);
  expect(parseSequence(seq, 'another')).toBe(0);
  expect(parseSequence('7', 'this')).toBe(7);
  expect(() => parseSequence('x', 'this')).toThrow(/Malformed sequence/);
});

const available = { status: 'available' };
const tree: RevTree = [
  {
    pos: 1,
    ids: [
      'a',
      available,
      [
        ['b', available, [['c', available, []]]],
        ['d', { ...available, deleted: true }, []],
      ],
    ],
  },
];

test('finds the leaves of a revision tree, and those of one branch', () => {
  const revs = leafRevisions(tree).map(({ rev, deleted }) => `${rev} ${deleted}`);
  expect(revs.sort()).toEqual(['2-d true', '3-c false']);
  expect(latestOf(tree, '2-b')).toEqual(['3-c']);
  expect(latestOf(tree, '1-a').sort()).toEqual(['2-d', '3-c']);
  expect(latestOf(tree, '9-x')).toEqual([]);
});

test('holds operations up while one has the database alone', async () => {
  const gate = createOperationLock();
  const order: string[] = [];
  let finish: () => void = () => undefined;
  const first = gate.pass(async () => {
    await new Promise<void>((resolve) => (finish = resolve));
    order.push('first');
  });
  const alone = gate.alone(async () => {
    order.push('alone');
  });
  const later = gate.pass(async () => {
    order.push('later');
  });
  finish();
  await Promise.all([first, alone, later]);
  expect(order).toEqual(['first', 'alone', 'later']);
});

test('reads the parts of a multipart body in their order', () => {
  const json = JSON.stringify({
    n: 1,
    _attachments: { a: { follows: true }, b: { follows: true } },
  });
  const body = `--x\r\nContent-Type: application/json\r\n\r\n${json}\r\n--x\r\n\r\nfirst\r\n--x\r\nX: y\r\n\r\n\r\n--x--`;
  const doc = readRelated(Buffer.from(body), 'multipart/related; boundary="x"');
  expect(doc).toEqual({
    n: 1,
    _attachments: { a: { data: Buffer.from('first') }, b: { data: Buffer.from('') } },
  });
});

test('makes an id for a document without one and drops what CouchDB only shows', () => {
  expect(parseDoc({ _conflicts: [], a: 1 })).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    a: 1,
  });
});

for (const [title, doc, error] of [
  ['an array', [], /must be a JSON object/],
  ['a special member it does not know', { _foo: 1 }, /Bad special document member: _foo/],
  ['an id that starts with an underscore', { _id: '_x' }, /Only reserved document ids/],
  ['an empty id', { _id: '' }, /must not be empty/],
  ['an id that is not a text', { _id: 1 }, /must be a string/],
  ['a malformed revision', { _id: 'a', _rev: 'x' }, /Invalid rev format/],
  ['a history that is none', { _id: 'a', _revisions: { start: 1, ids: [] } }, /_revisions/],
] as const) {
  test(`refuses ${title} as a document`, () => {
    expect(() => parseDoc(doc)).toThrow(error);
  });
}
