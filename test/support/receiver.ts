import { listening } from './listening.js';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';

/** A webhook as it arrived. `at`: the order of arrival, from 0. */
export type Received = {
  readonly at: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Message;
};

export type Message = {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** How a receiver answers: a status, and headers and a body beside it. */
export type Answer = {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
};

export type Receiver = {
  readonly url: string;
  readonly received: readonly Received[];
  /** Waits until so many webhooks have come. */
  readonly until: (count: number) => Promise<readonly Received[]>;
};

/** A real HTTP server that takes webhooks, for one test. */
export async function startReceiver(
  answer: (received: Received) => Answer = () => ({ status: 204 }),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url: path = '', headers } = request;
      const parsed = JSON.parse(body === '' ? '{}' : body) as Message;
      const one = { at: received.length, path, headers, text: body, body: parsed };
      received.push(one);
      const { status, headers: more, body: said } = answer(one);
      response.writeHead(status, more).end(said);
    });
  });
  const url = await listening(server);
  const until = async (count: number): Promise<readonly Received[]> => {
    await expect.poll(() => received.length).toBeGreaterThanOrEqual(count);
    return received;
  };
  return { url, received, until };
}
