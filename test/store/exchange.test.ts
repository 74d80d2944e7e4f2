import { listening } from '../support/listening.js';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { askLong } from '../../src/store/long-ask.js';
import { openClient } from '../../src/store/client.js';
import { createPatience, openExchange, unlimited } from '../../src/store/exchange.js';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server of the test's own, and the way to it. */
async function serving(handler: Handler) {
  const url = await listening(createServer(handler));
  const connection = { url: `${url}/below`, database: 'd', app: 'a' };
  return { ...openExchange(connection), connection };
}

const late = { kind: 'failed', cause: 'no answer in time' };

test('a request that is never answered is given up', async () => {
  const { send } = await serving(() => undefined);
  const patience = createPatience(50);
  expect(await send({ method: 'GET', path: '/d', patience })).toEqual(late);
});

test('an answer that breaks off or stands still in its middle is none', async () => {
  const { send } = await serving(({ url }, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('12345');
    if (url === '/below/broken') response.socket?.end();
  });
  const patience = createPatience(50);
  const broken = await send({ method: 'GET', path: '/broken', patience });
  expect(broken).toMatchObject({ kind: 'failed' });
  const call = { method: 'GET', path: '/still', patience } as const;
  expect(await send(call)).toEqual(late);
});

test('a large body on a slow link is sent to its end: silence counts, not time', async () => {
  const { send } = await serving((request, response) => {
    let bytes = 0;
    // The reader takes a little at a time; all in all it takes far longer than the limit.
    const take = (): void => {
      const part = request.read() as Buffer | null;
      bytes += part?.length ?? 0;
      setTimeout(take, 20);
    };
    take();
    request.on('end', () => response.end(String(bytes)));
  });
  const body = `"${'x'.repeat(20_000_000)}"`;
  const patience = createPatience(1_000);
  const answer = await send({ method: 'POST', path: '/d', body, patience });
  const date = expect.any(String) as string;
  expect(answer).toEqual({ kind: 'answered', status: 200, text: String(body.length), date });
});

test('T1, T2: a slow server is found out by an answer that came too late, and waited for', async () => {
  const asked = new EventEmitter();
  const arrived = once(asked, 'asked');
  let isSlow = true;
  const { send } = await serving((_request, response) => {
    if (isSlow) asked.emit('asked', response);
    else response.end('{}');
  });
  const patience = createPatience(50);
  const before = patience.limitMs(0);
  expect(await send({ method: 'GET', path: '/d', patience })).toEqual(late);
  expect(patience.limitMs(0)).toBe(before);
  // On a busy machine the request may arrive after its limit.
  const [response] = (await arrived) as [ServerResponse];
  response.end('{}');
  await expect.poll(() => patience.limitMs(0)).toBeGreaterThan(before);
  isSlow = false;
  await expect
    .poll(async () => {
      await send({ method: 'GET', path: '/d', patience });
      return patience.limitMs(0);
    })
    .toBe(before);
});

const times = { lookMs: 20, longestMs: 60_000 };

test('an answer that takes long is waited for while the server is alive', async () => {
  let asked = 0;
  let answer = (): void => undefined;
  const { send } = await serving((_request, response) => {
    asked += 1;
    answer = () => response.end('{}');
  });
  const reply = askLong(
    {
      ask: (signal) => send({ method: 'PUT', path: '/v', patience: unlimited, signal }),
      isAlive: () => Promise.resolve(true),
      repeatable: false,
    },
    times,
  );
  await expect.poll(() => asked).toBe(1);
  // Ten looks long.
  await new Promise((resolve) => setTimeout(resolve, 200));
  answer();
  expect(await reply).toMatchObject({ kind: 'answered' });
  expect(asked).toBe(1);
});

test('a question is asked again beside one whose connection is dead', async () => {
  let asked = 0;
  const { send } = await serving((_request, response) => {
    asked += 1;
    if (asked > 1) response.end('{}');
  });
  const reply = await askLong(
    {
      ask: (signal) => send({ method: 'GET', path: '/v', patience: unlimited, signal }),
      isAlive: () => Promise.resolve(true),
      repeatable: true,
    },
    times,
  );
  expect(reply).toMatchObject({ kind: 'answered' });
});

test('a question is given up when the server answers nothing else either', async () => {
  const { send } = await serving(() => undefined);
  const reply = await askLong(
    {
      ask: (signal) => send({ method: 'GET', path: '/v', patience: unlimited, signal }),
      isAlive: () => Promise.resolve(false),
      repeatable: true,
    },
    times,
  );
  expect(reply).toEqual(late);
});

test('a long answer that breaks off in its middle is told as such, and leaves no rejection behind', async () => {
  const { connection } = await serving((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '10' });
    response.write('12345', () => response.socket?.end());
  });
  const stray: unknown[] = [];
  const hear = (reason: unknown): void => void stray.push(reason);
  process.prependListener('unhandledRejection', hear);
  onTestFinished(() => void process.off('unhandledRejection', hear));
  const asked = openClient(connection).ask({ path: '/v', action: 'read a view', long: true });
  await expect(asked).rejects.toMatchObject({ code: 'couch_unreachable' });
  expect(stray).toEqual([]);
});

test.each([
  ['a change that is answered', 201, '{"ok":true}', 11, { kind: 'answered', body: { ok: true } }],
  [
    'a change that is refused',
    412,
    '{"error":"file_exists","reason":"It exists."}',
    45,
    { kind: 'refused', status: 412, reason: 'It exists.' },
  ],
  ['a change whose answer breaks off', 201, '{"ok":', 11, { code: 'couch_unreachable' }],
])('%s is told as such', async (_title, status, text, length, expected) => {
  const { connection } = await serving((request, response) => {
    expect([request.method, request.url]).toEqual(['PUT', '/below/d?n=1']);
    const type = 'application/json';
    response.writeHead(status, { 'content-type': type, 'content-length': String(length) });
    response.write(text, () => response.socket?.end());
  });
  const change = { method: 'PUT', path: '/d', query: { n: 1 }, action: 'create it' } as const;
  const asked = openClient(connection).ask({ ...change, long: true });
  expect(await asked.catch((thrown: unknown) => thrown)).toMatchObject(expected);
});
