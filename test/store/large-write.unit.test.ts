import { describe, expect, it, test } from 'vitest';
import { BigResult } from '../../src/model/big-result.js';
import { readRelated } from '../../src/embedded/http/multipart.js';
import { announced, largeSender, relatedBody } from '../../src/store/large-write.js';
import type { ExchangeResult } from '../../src/store/exchange.js';
import type { WriteResult } from '../../src/store/batch.js';
import { createWriter } from '../../src/store/writer.js';

const bigOf = (value: unknown): BigResult =>
  new BigResult(value, Buffer.byteLength(JSON.stringify(value)));
const million = 'x'.repeat(1_000_000);

test('a document with short attachments goes with others', () => {
  const data = bigOf('x'.repeat(100_000));
  expect(announced({ _attachments: { a: { stub: true }, b: { data } } })).toBeUndefined();
  expect(announced({ _id: 'a' })).toBeUndefined();
});

test('long attachments are announced, those that are stored stay as they are', () => {
  const [a, b] = [bigOf(million), bigOf('b')];
  const about = { content_type: 'application/json' };
  const kept = { stub: true, digest: 'md5-x' };
  const _attachments = { a: { ...about, data: a }, kept, b: { ...about, data: b } };
  expect(announced({ _id: 'j', n: 1, _attachments })).toEqual({
    doc: {
      ...{ _id: 'j', n: 1 },
      _attachments: {
        a: { ...about, follows: true, length: 1_000_002 },
        kept,
        b: { ...about, follows: true, length: 3 },
      },
    },
    attachments: [a, b],
  });
});

test.each<[string, readonly unknown[]]>([
  ['one long text', [million]],
  ['texts that look like the end of a part', ['\r\n--', '--\r\n\r\n--', 'x--']],
  ['characters of several bytes', ['ü😀'.repeat(10_000), { ü: '\ud83d' }]],
  ['lists and objects', [Array.from({ length: 9_000 }, (_, i) => ({ i })), {}, [], null]],
])('a request is as long as it says and is read back whole: %s', (_title, values) => {
  const attachments = values.map(bigOf);
  const _attachments = Object.fromEntries(
    attachments.map(({ bytes }, i) => [`r ${i}"`, { follows: true, length: bytes }]),
  );
  const json = JSON.stringify({ _id: 'ü', n: 1, _attachments });
  const { contentType, bytes, pieces } = relatedBody({ json, attachments });
  const body = Buffer.concat([...iterate(pieces())].map((piece) => Buffer.from(piece)));
  expect(body.length).toBe(bytes);
  const read = readRelated(body, contentType);
  expect(read).toMatchObject({ _id: 'ü', n: 1 });
  const contents = Object.values(read['_attachments'] as object) as { readonly data: Buffer }[];
  expect(contents.map(({ data }) => JSON.parse(data.toString()) as unknown)).toEqual(
    values.map((value) => JSON.parse(JSON.stringify(value)) as unknown),
  );
});

function* iterate(pieces: Iterator<string, unknown, undefined>): Generator<string> {
  for (let one = pieces.next(); one.done !== true; one = pieces.next()) yield one.value;
}

describe('the answer to a document that was sent alone', () => {
  const json = (value: object): string => JSON.stringify(value);
  const answered = (status: number, body: object | string): ExchangeResult => ({
    ...{ kind: 'answered', status, text: typeof body === 'string' ? body : json(body) },
  });
  it.each<[ExchangeResult, WriteResult]>([
    [answered(201, { ok: true, rev: '2-b' }), { kind: 'written', rev: '2-b' }],
    [answered(201, 'cut o'), { kind: 'unknown', cause: 'CouchDB answers 201' }],
    [
      answered(202, { ok: true, rev: '2-b' }),
      { kind: 'unknown', cause: 'CouchDB answers 202: not on enough nodes' },
    ],
    [answered(409, { error: 'conflict', reason: 'x' }), { kind: 'conflict' }],
    [answered(409, 'busy'), { kind: 'unknown', cause: 'CouchDB answers 409' }],
    [answered(403, { error: 'forbidden', reason: 'no' }), { kind: 'refused', reason: 'no' }],
    [
      answered(403, { error: 'forbidden', reason: 'You are not allowed to access this db.' }),
      { kind: 'unknown', cause: 'CouchDB answers 403: You are not allowed to access this db.' },
    ],
    [
      answered(401, { error: 'unauthorized', reason: 'Name or password is incorrect.' }),
      { kind: 'unknown', cause: 'CouchDB answers 401: Name or password is incorrect.' },
    ],
    [
      answered(413, '<html>'),
      { kind: 'refused', reason: 'The document is too large for this CouchDB.' },
    ],
    [answered(400, { error: 'bad_request', reason: 'x' }), { kind: 'refused', reason: 'x' }],
    [answered(400, '<html>'), { kind: 'unknown', cause: 'CouchDB answers 400' }],
    [
      answered(412, { error: 'missing_stub', reason: 'x' }),
      { kind: 'unknown', cause: 'CouchDB answers 412: x' },
    ],
    [answered(500, { error: 'boom' }), { kind: 'unknown', cause: 'CouchDB answers 500: boom' }],
    [
      { kind: 'failed', cause: 'connection broken' },
      { kind: 'unknown', cause: 'connection broken' },
    ],
  ])('%j means %j', async (answer, result) => {
    const connection = { url: 'http://127.0.0.1', database: 'd', app: 'a' };
    const send = largeSender(connection, { send: async () => answer });
    expect(await send({ id: 'j', json: '{}', attachments: [] })).toEqual(result);
  });
});

describe('T9, T10: a document with long attachments', () => {
  const large = (_id: string) => ({ _id, _attachments: { a: { data: bigOf(million) } } });
  const written: WriteResult = { kind: 'written', rev: '1-x' };
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** A writer whose large documents are answered when the test says so. */
  function writing() {
    const sent: string[] = [];
    const open = new Map<string, () => void>();
    const writer = createWriter({
      bulk: async (json) => {
        const { docs } = JSON.parse(json) as { readonly docs: readonly { readonly _id: string }[] };
        sent.push(docs.map(({ _id }) => _id).join(' '));
        const body = docs.map(({ _id }) => ({ id: _id, rev: '1-x' }));
        return { kind: 'answered', status: 201, body };
      },
      large: async ({ id }) => {
        sent.push(`${id} alone`);
        await new Promise<void>((resolve) => open.set(id, resolve));
        return written;
      },
    });
    return { writer, sent, answer: (id: string) => open.get(id)?.() };
  }

  it('goes alone, and holds up no other document', async () => {
    const { writer, sent, answer } = writing();
    const one = writer.write(large('big'));
    expect(await writer.write({ _id: 'a' })).toEqual(written);
    expect(await writer.write({ _id: 'b' })).toEqual(written);
    expect(sent).toEqual(['big alone', 'a', 'b']);
    answer('big');
    expect(await one).toEqual(written);
  });

  it('keeps its place among the writes of its document', async () => {
    const { writer, sent, answer } = writing();
    const all = ['big', 'a'].map((_id) => writer.write({ _id, n: 1 }));
    all.push(writer.write(large('big')), writer.write({ _id: 'big', n: 3 }));
    await Promise.all(all.slice(0, 2));
    await expect.poll(() => sent).toEqual(['big a', 'big alone']);
    await writer.write({ _id: 'c' });
    expect(sent).toEqual(['big a', 'big alone', 'c']);
    answer('big');
    await Promise.all(all);
    expect(sent).toEqual(['big a', 'big alone', 'c', 'big']);
  });

  it('waits while a few others are on their way', async () => {
    const { writer, sent, answer } = writing();
    const all = ['1', '2', '3', '4'].map((_id) => writer.write(large(_id)));
    await turn();
    expect(sent).toEqual(['1 alone', '2 alone', '3 alone']);
    answer('2');
    await expect.poll(() => sent).toEqual(['1 alone', '2 alone', '3 alone', '4 alone']);
    for (const id of ['1', '3', '4']) answer(id);
    await Promise.all(all);
  });

  it('is waited for when the writer is closed', async () => {
    const { writer, answer } = writing();
    const one = writer.write(large('big'));
    await turn();
    let isClosed = false;
    const closing = writer.close().then(() => (isClosed = true));
    await turn();
    expect(isClosed).toBe(false);
    answer('big');
    await closing;
    expect(await one).toEqual(written);
  });

  it('is refused when the document itself is too long, attachments left aside', async () => {
    const { writer, sent, answer } = writing();
    const doc = { ...large('big'), text: 'x'.repeat(2_000) };
    expect(await writer.write(doc, 1_000)).toMatchObject({ kind: 'refused' });
    expect(sent).toEqual([]);
    const fits = writer.write(doc, 3_000);
    await turn();
    answer('big');
    expect(await fits).toEqual(written);
  });
});
