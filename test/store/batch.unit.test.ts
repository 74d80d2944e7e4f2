import { describe, expect, test } from 'vitest';
import { resultsOf, takeBatch, type BulkAnswer } from '../../src/store/batch.js';

const item = (id: string, bytes = 1) => ({ id, bytes });
const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id).join('');

describe('takeBatch', () => {
  test.each([
    ['takes everything within the limits', 'abc', 10, 10, 'abc', ''],
    ['stops at the number of documents', 'abcd', 3, 10, 'abc', 'd'],
    ['stops at the bytes', 'abcd', 10, 2, 'ab', 'cd'],
    ['leaves the second write of an id for later', 'aba', 10, 10, 'ab', 'a'],
    ['keeps the order of all later writes of an id', 'aabaca', 10, 10, 'abc', 'aaa'],
    ['puts what was left before what was not looked at', 'aabcd', 2, 10, 'ab', 'acd'],
    ['takes nothing from an empty queue', '', 10, 10, '', ''],
  ])('%s', (_title, queue, documents, bytes, batch, rest) => {
    const taken = takeBatch(
      [...queue].map((id) => item(id)),
      { documents, bytes },
    );
    expect([ids(taken.batch), ids(taken.rest)]).toEqual([batch, rest]);
  });

  test('takes a document that is larger than the limit alone', () => {
    const taken = takeBatch([item('a', 99), item('b')], { documents: 10, bytes: 10 });
    expect([ids(taken.batch), ids(taken.rest)]).toEqual(['a', 'b']);
  });
});

const answered = (status: number, body?: unknown): BulkAnswer => ({
  kind: 'answered',
  status,
  body,
});
const ok = (id: string) => ({ ok: true, id, rev: `1-${id}` });

describe('resultsOf', () => {
  test.each<[string, BulkAnswer, string]>([
    ['201 writes', answered(201, [ok('a'), ok('b')]), 'written written'],
    [
      'answers in another order are told apart',
      answered(201, [ok('b'), ok('a')]),
      'written written',
    ],
    [
      'a conflict is one',
      answered(201, [{ id: 'a', error: 'conflict', reason: 'x' }, ok('b')]),
      'conflict written',
    ],
    [
      'validation refuses',
      answered(201, [ok('a'), { id: 'b', error: 'forbidden', reason: 'no' }]),
      'written refused',
    ],
    [
      'a server error of one document leaves it open',
      answered(201, [ok('a'), { id: 'b', error: 'internal_server_error', reason: 'x' }]),
      'written unknown',
    ],
    ['a row that is missing leaves it open', answered(201, [ok('a')]), 'written unknown'],
    [
      'a row without revision leaves it open',
      answered(201, [ok('a'), { id: 'b', ok: true }]),
      'written unknown',
    ],
    ['rows that are none leave it open', answered(201, [null, 7]), 'unknown unknown'],
    ['202 leaves the stored ones open', answered(202, [ok('a'), ok('b')]), 'unknown unknown'],
    [
      '202 does not hide a conflict',
      answered(202, [ok('a'), { id: 'b', error: 'conflict' }]),
      'unknown conflict',
    ],
    [
      '202 leaves open what is only accepted',
      answered(202, [ok('a'), { ...ok('b'), accepted: true }]),
      'written unknown',
    ],
    ['a broken connection leaves all open', { kind: 'failed', cause: 'x' }, 'unknown unknown'],
    ['500 leaves all open', answered(500, { error: 'x' }), 'unknown unknown'],
    ['503 without a body leaves all open', answered(503), 'unknown unknown'],
    [
      '401 leaves all open',
      answered(401, { error: 'unauthorized', reason: 'x' }),
      'unknown unknown',
    ],
    [
      '403 for the request leaves all open',
      answered(403, { error: 'forbidden' }),
      'unknown unknown',
    ],
    [
      'a missing database leaves all open',
      answered(404, { error: 'not_found' }),
      'unknown unknown',
    ],
    ['200 with something else leaves all open', answered(200, { ok: true }), 'unknown unknown'],
    ['201 that is no list leaves all open', answered(201, { ok: true }), 'unknown unknown'],
    ['413 splits', answered(413, { error: 'document_too_large' }), 'split'],
    ['413 of a proxy splits', answered(413), 'split'],
    ['400 of CouchDB splits', answered(400, { error: 'doc_validation' }), 'split'],
    ['400 of something else leaves all open', answered(400), 'unknown unknown'],
  ])('%s', (_title, answer, expected) => {
    const results = resultsOf(['a', 'b'], answer);
    expect(results === 'split' ? results : results.map(({ kind }) => kind).join(' ')).toBe(
      expected,
    );
  });

  test.each<[number, unknown, string]>([
    [
      413,
      { error: 'document_too_large', reason: 'a' },
      'The document is too large for this CouchDB.',
    ],
    [
      400,
      { error: 'doc_validation', reason: 'Bad special document member: _x' },
      'Bad special document member: _x',
    ],
    [400, { error: 'bad_request' }, 'bad_request'],
  ])('refuses a single document with the reason of %i', (status, body, reason) => {
    expect(resultsOf(['a'], answered(status, body))).toEqual([{ kind: 'refused', reason }]);
  });

  test('hands out the revision', () => {
    expect(resultsOf(['a'], answered(201, [ok('a')]))).toEqual([{ kind: 'written', rev: '1-a' }]);
  });

  test('says why nothing is known', () => {
    const body = { error: 'not_found', reason: 'Database does not exist.' };
    expect(resultsOf(['a'], answered(404, body))).toEqual([
      { kind: 'unknown', cause: 'CouchDB answers 404: Database does not exist.' },
    ]);
  });
});
