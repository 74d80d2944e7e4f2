import { listening } from '../support/listening.js';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { failuresAfter, backoffMs } from '../../src/store/backoff.js';
import { readLine } from '../../src/store/change.js';
import type { FeedState } from '../../src/store/feed.js';
import { createOwnWrites } from '../../src/store/own-writes.js';
import { openStore } from '../../src/store/store.js';

const doc = { _id: 'a', _rev: '1-x', type: 'job' };

describe('readLine', () => {
  test.each<[string, string, unknown]>([
    ['an empty line is a heartbeat', '', { kind: 'heartbeat' }],
    ['a carriage return is a heartbeat', '\r', { kind: 'heartbeat' }],
    [
      'a change with its document',
      JSON.stringify({ id: 'a', seq: '1-x', changes: [], doc }),
      { kind: 'change', change: { id: 'a', seq: '1-x', deleted: false, revs: [], doc } },
    ],
    [
      'a change without its document, with its leaf revisions',
      JSON.stringify({ id: 'a', seq: '1-x', changes: [{ rev: '2-b' }, { rev: '2-a' }, {}] }),
      { kind: 'change', change: { id: 'a', seq: '1-x', deleted: false, revs: ['2-b', '2-a'] } },
    ],
    [
      'a deletion, with what the tombstone holds',
      JSON.stringify({ id: 'a', seq: '2-x', deleted: true, doc }),
      { kind: 'change', change: { id: 'a', seq: '2-x', deleted: true, revs: [], remains: doc } },
    ],
    [
      'a document that is null',
      JSON.stringify({ id: 'a', seq: '2-x', doc: null }),
      { kind: 'change', change: { id: 'a', seq: '2-x', deleted: false, revs: [] } },
    ],
    [
      'a document in conflict, without what tells it',
      JSON.stringify({ id: 'a', seq: '2-x', doc: { ...doc, _conflicts: ['1-y'] } }),
      {
        kind: 'change',
        change: { id: 'a', seq: '2-x', deleted: false, revs: [], doc, conflicted: true },
      },
    ],
    [
      'a sequence that is a number',
      JSON.stringify({ id: 'a', seq: 7 }),
      { kind: 'change', change: { id: 'a', seq: '7', deleted: false, revs: [] } },
    ],
    ['the end', '{"last_seq":"9-x","pending":0}', { kind: 'end', seq: '9-x' }],
    ['an error', '{"error":"e","reason":"r"}', { kind: 'error', cause: 'e: r' }],
    ['half a line', '{"id":"a","se', { kind: 'malformed' }],
    ['JSON that is no object', '7', { kind: 'malformed' }],
    ['null', 'null', { kind: 'malformed' }],
    ['an object that is no change', '{"id":"a"}', { kind: 'malformed' }],
  ])('%s', async (_title, text, line) => {
    expect(await readLine(text)).toEqual(line);
  });

  const lineOf = (more: object) =>
    JSON.stringify({ seq: '4-x', id: 'a', changes: [{ rev: '1-x' }], ...more });

  test('what this process wrote is the document that it wrote', async () => {
    const { note, of } = createOwnWrites();
    note('a', doc);
    const line = await readLine(lineOf({ doc: { ...doc, tasks: ',"doc":{' } }), of);
    expect(line.kind === 'change' && line.change.doc).toBe(doc);
    expect(line).toMatchObject({ change: { id: 'a', seq: '4-x', deleted: false, revs: ['1-x'] } });
  });

  test.each<[string, object]>([
    ['another revision', { changes: [{ rev: '2-x' }], doc: { ...doc, _rev: '2-x' } }],
    [
      'a document in conflict',
      { changes: [{ rev: '1-x' }, { rev: '1-y' }], doc: { ...doc, n: 1 } },
    ],
    ['another document', { id: 'b', doc: { ...doc, _id: 'b' } }],
    ['a deletion', { deleted: true }],
    ['an id with what begins a document', { id: ',"doc":{', doc: { ...doc, _id: ',"doc":{' } }],
  ])('%s is read', async (_title, more) => {
    const { note, of } = createOwnWrites();
    note('a', { ...doc, mine: true });
    expect(await readLine(lineOf(more), of)).toEqual(await readLine(lineOf(more)));
  });

  test('what has attachments, is long or was deleted since is read', () => {
    const { note, of } = createOwnWrites();
    const lasting = [{ _attachments: { a: { data: 'aGk=' } } }, { text: 'x'.repeat(20_000) }];
    for (const more of [...lasting, undefined]) {
      note('a', doc);
      note('a', more && { ...doc, ...more });
      expect(of('a')).toBeUndefined();
    }
  });
});

describe('waitMs', () => {
  test.each([
    [1, 0, 1_000],
    [1, 0.999_999, 2_000],
    [2, 0, 2_000],
    [2, 0.5, 3_000],
    [4, 0, 8_000],
    [5, 0, 15_000],
    [5, 0.999_999, 30_000],
    [5_000, 0.999_999, 30_000],
  ])('after %i failures, with chance %d, is %i ms', (failures, random, ms) => {
    expect(backoffMs(failures, random, { firstMs: 1_000, maxMs: 30_000, refusedMs: 1 })).toBe(ms);
  });

  test('is never longer than two seconds for a server that was away for long', () => {
    expect(backoffMs(5_000, 0.999_999)).toBe(2_000);
  });

  test('is never shorter than the first wait', () => {
    expect(backoffMs(1, 0, { firstMs: 50, maxMs: 10, refusedMs: 1 })).toBe(50);
  });
});

describe('failuresAfter', () => {
  test.each([
    ['no connection', 3, 0, 4],
    ['an answer and an end at once', 3, 20, 4],
    ['a connection that lived for less than three heartbeats', 3, 299, 4],
    ['one that lived longer', 3, 300, 1],
  ])('after %s', (_title, before, livedMs, failures) => {
    expect(failuresAfter(before, livedMs, 100)).toBe(failures);
  });
});

test('a server that answers and ends the feed at once is asked less and less often', async () => {
  const server = createServer((request, response) => {
    const isFeed = request.url?.includes('_changes') === true;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(isFeed ? '\n' : JSON.stringify({ db_name: 'd', update_seq: '0' }));
  });
  const store = openStore({ url: await listening(server), database: 'd', app: 'tws' });
  const waits: number[] = [];
  const ended = new AbortController();
  const onState = (state: FeedState): void => {
    if (state.kind === 'lost') waits.push(state.retryInMs);
    if (waits.length === 6) ended.abort();
  };
  const feed = store.follow({
    ...{ since: '0', signal: ended.signal, onState, random: () => 1, heartbeatMs: 600_000 },
    backoff: { firstMs: 1, maxMs: 16, refusedMs: 1 },
  });
  for await (const change of feed) expect(change).toBeUndefined();
  expect(waits).toEqual([2, 4, 8, 16, 16, 16]);
});
