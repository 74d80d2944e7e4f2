import { expect, test } from 'vitest';
import type { BulkAnswer } from '../../src/store/batch.js';
import { createWriter, type WriterPorts } from '../../src/store/writer.js';

type Sent = { readonly docs: readonly { readonly _id: string; readonly [key: string]: unknown }[] };

/** A server that answers when it is told to, and says 413 to more than `most` documents. */
function server(most = Infinity) {
  const requests: string[] = [];
  const open: (() => void)[] = [];
  let manual = false;
  const answer = (docs: Sent['docs']): BulkAnswer =>
    docs.length > most
      ? { kind: 'answered', status: 413, body: undefined }
      : {
          kind: 'answered',
          status: 201,
          body: docs.map(({ _id }) =>
            _id === 'bad' ? { id: _id, error: 'forbidden', reason: 'no' } : { id: _id, rev: '1-x' },
          ),
        };
  return {
    requests,
    hold: () => {
      manual = true;
    },
    answerNext: () => open.shift()?.(),
    send: async (json: string): Promise<BulkAnswer> => {
      const { docs } = JSON.parse(json) as Sent;
      requests.push(docs.map(({ _id }) => _id).join(' '));
      if (manual) await new Promise<void>((resolve) => open.push(resolve));
      return answer(docs);
    },
  };
}

/** Nothing is long enough here to go alone. */
function sending(bulk: WriterPorts['bulk']): WriterPorts {
  return { bulk, large: () => Promise.reject(new Error('A document went alone.')) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
/** Two turns: the second begins after what the first one led to. */
const settled = async () => {
  await turn();
  await turn();
};

test('writes of one turn go together', async () => {
  const { send, requests } = server();
  const writer = createWriter(sending(send));
  const results = await Promise.all([writer.write({ _id: 'a' }), writer.write({ _id: 'bad' })]);
  expect(requests).toEqual(['a bad']);
  expect(results).toEqual([
    { kind: 'written', rev: '1-x' },
    { kind: 'refused', reason: 'no' },
  ]);
});

test('T7, T8: what arrives during a request is the next batch', async () => {
  const { send, requests, hold, answerNext } = server();
  hold();
  const writer = createWriter(sending(send));
  const first = writer.write({ _id: 'a' });
  await settled();
  const later = [writer.write({ _id: 'b' }), writer.write({ _id: 'c' })];
  await settled();
  expect(requests).toEqual(['a']);
  answerNext();
  await first;
  await settled();
  expect(requests).toEqual(['a', 'b c']);
  answerNext();
  await Promise.all(later);
});

test('T8: what is written in answer to a batch goes with what waits already', async () => {
  const { send, requests, hold, answerNext } = server();
  hold();
  const writer = createWriter(sending(send));
  const first = writer.write({ _id: 'a' }).then(() => writer.write({ _id: 'after-a' }));
  await settled();
  const other = writer.write({ _id: 'b' });
  answerNext();
  await settled();
  expect(requests).toEqual(['a', 'b after-a']);
  answerNext();
  await Promise.all([first, other]);
});

test('T9: an id is never twice in a request', async () => {
  const { send, requests } = server();
  const writer = createWriter(sending(send));
  await Promise.all(['a', 'a', 'b', 'a'].map((_id) => writer.write({ _id })));
  expect(requests).toEqual(['a b', 'a', 'a']);
});

test('a batch that is too large is halved until it fits', async () => {
  const { send, requests } = server(2);
  const writer = createWriter(sending(send));
  const results = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((_id) => writer.write({ _id })));
  expect(requests).toEqual(['a b c d e', 'a b c', 'a b', 'c', 'd e']);
  expect(results.every(({ kind }) => kind === 'written')).toBe(true);
});

test('the document is taken as it is when write is called', async () => {
  const bodies: string[] = [];
  const writer = createWriter(
    sending(async (json) => {
      bodies.push(json);
      return { kind: 'failed', cause: 'x' };
    }),
  );
  const doc = { _id: 'a', n: 1 };
  const result = writer.write(doc);
  doc.n = 2;
  expect(await result).toEqual({ kind: 'unknown', cause: 'x' });
  expect(bodies).toEqual(['{"docs":[{"_id":"a","n":1}]}']);
});

test('a document that has no JSON is refused and does not hold up the others', async () => {
  const { send } = server();
  const writer = createWriter(sending(send));
  const results = await Promise.all([
    writer.write({ _id: 'a', big: 1n }),
    writer.write({ _id: 'b' }),
  ]);
  expect(results.map(({ kind }) => kind)).toEqual(['refused', 'written']);
});

test('close waits for what was taken and takes nothing more', async () => {
  const { send, requests, hold, answerNext } = server();
  hold();
  const writer = createWriter(sending(send));
  const first = writer.write({ _id: 'a' });
  let closed = false;
  const closing = writer.close().then(() => {
    closed = true;
  });
  expect(await writer.write({ _id: 'b' })).toMatchObject({ kind: 'unknown' });
  await settled();
  expect(closed).toBe(false);
  answerNext();
  await closing;
  expect(await first).toMatchObject({ kind: 'written' });
  expect(requests).toEqual(['a']);
});

test('T7, T9: a request that hangs holds up no other document, but every later write of its own', async () => {
  const { send, requests, hold, answerNext } = server();
  hold();
  const writer = createWriter(sending(send), { documents: 500, bytes: 1e6 }, 1);
  const hung = writer.write({ _id: 'a' });
  await expect.poll(() => requests).toEqual(['a']);
  const later = [writer.write({ _id: 'a' }), writer.write({ _id: 'b' })];
  await expect.poll(() => requests).toEqual(['a', 'b']);
  answerNext();
  await hung;
  await expect.poll(() => requests).toEqual(['a', 'b', 'a']);
  answerNext();
  answerNext();
  await Promise.all(later);
  await writer.close();
});
