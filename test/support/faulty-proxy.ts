import { once } from 'node:events';
import {
  createServer,
  request as requestHttp,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a server, or whatever stands before it, does to requests. */
export type Fault =
  /** Each request is passed on, and its answer, so many ms later. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Nothing moves; when the fault is over everything goes on where it stopped. */
  | { readonly kind: 'stall' }
  /** Requests are accepted and never answered; connections of this time stay dead afterwards. */
  | { readonly kind: 'swallow' }
  /** Requests get through, but their answers never come back. */
  | { readonly kind: 'mute' }
  /** Connections break before the request is passed on. */
  | { readonly kind: 'cut' }
  /** Connections break after the request was passed on. */
  | { readonly kind: 'cut_answer' }
  /** Half of each answer comes, and then the end of the connection. */
  | { readonly kind: 'half_close' }
  /** Requests are not passed on; this is the answer. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly type: string;
      readonly body: string;
    };

/** A request as it comes: `path` with its query. */
export type Request = { readonly method: string; readonly path: string };

/** An HTTP proxy that does to requests what servers and networks do. */
export type FaultyProxy = {
  /** `http://127.0.0.1:<port>`, without credentials. */
  readonly url: string;
  /**
   * From now on; a feed that is open suffers it as well. With `isMet` only the requests that it picks
   * meet the fault, and what is open goes on.
   */
  readonly begin: (fault: Fault, isMet?: (request: Request) => boolean) => void;
  /** The fault is over. */
  readonly heal: () => void;
  /** Requests that met a fault since it began. */
  readonly met: () => number;
  /** Bodies of `_bulk_docs` requests that were passed on. */
  readonly writes: readonly string[];
};

type Open = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly answer?: IncomingMessage;
};

/** Starts a proxy to `target` that ends with the test. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Open>();
  const writes: string[] = [];
  let fault: Fault | undefined;
  let picks: ((request: Request) => boolean) | undefined;
  let healed: PromiseWithResolvers | undefined;
  let met = 0;

  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await bytesOf(incoming);
    const { method = 'GET', url: path = '/', headers } = incoming;
    const now = picks?.({ method, path }) === false ? undefined : fault;
    if (now !== undefined) met += 1;
    switch (now?.kind) {
      case undefined:
      case 'mute':
      case 'cut_answer':
      case 'half_close':
        break;
      case 'delay':
        await new Promise((resolve) => setTimeout(resolve, now.ms));
        break;
      case 'stall':
        await healed?.promise;
        break;
      case 'swallow':
        return;
      case 'cut':
        return void incoming.socket.destroy();
      case 'answer':
        outgoing.writeHead(now.status, { 'content-type': now.type }).end(now.body);
        return;
    }
    if (path.endsWith('/_bulk_docs')) writes.push(String(body));
    const request = requestHttp({ hostname, port, method, path, headers, agent: false });
    outgoing.on('close', () => request.destroy());
    request.on('error', () => outgoing.destroy());
    request.end(body);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const link: Open = { incoming, outgoing, answer };
    open.add(link);
    outgoing.on('close', () => open.delete(link));
    answer.on('error', () => outgoing.destroy());
    if (now?.kind === 'cut_answer') return void incoming.socket.destroy();
    if (now?.kind === 'mute') return void answer.resume();
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    if (now?.kind === 'half_close') {
      const text = await bytesOf(answer);
      outgoing.write(text.subarray(0, text.length / 2), () => incoming.socket.end());
      return;
    }
    outgoing.flushHeaders();
    answer.on('data', (part: Buffer) => outgoing.write(part));
    answer.on('end', () => outgoing.end());
    if (fault?.kind === 'stall' && picks === undefined) answer.pause();
  };

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    met: () => met,
    begin: (next, isMet) => {
      fault = next;
      picks = isMet;
      met = 0;
      healed = withResolvers();
      if (isMet !== undefined) return;
      for (const link of open) suffer(link, next);
    },
    heal: () => {
      const was = fault;
      fault = undefined;
      healed?.resolve();
      if (was?.kind === 'stall') for (const { answer } of open) answer?.resume();
    },
  };
}

/** What a fault does to an answer that is under way, which is most often the feed. */
function suffer({ incoming, answer }: Open, fault: Fault): void {
  switch (fault.kind) {
    case 'delay':
      return;
    case 'stall':
      return void answer?.pause();
    case 'swallow':
    case 'mute':
      return void answer?.removeAllListeners('data').removeAllListeners('end').resume();
    case 'cut':
    case 'cut_answer':
    case 'half_close':
    case 'answer':
      return void incoming.socket.destroy();
  }
}

type PromiseWithResolvers = { readonly promise: Promise<void>; readonly resolve: () => void };

function withResolvers(): PromiseWithResolvers {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
