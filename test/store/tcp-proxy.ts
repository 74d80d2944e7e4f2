import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A TCP proxy that breaks what goes through it. */
export type TcpProxy = {
  readonly url: string;
  /** Breaks all connections of this moment. */
  readonly cut: () => void;
  /** The next connections break after so many bytes of answers; undefined: they do not. */
  readonly cutAfter: (bytes: number | undefined) => void;
  /** Keeps connections open, but lets nothing through any more, until it is called with false. */
  readonly silence: (silent: boolean) => void;
  /** Refuses connections until it is called with true. */
  readonly listen: (open: boolean) => Promise<void>;
  /** Connections accepted so far. */
  readonly accepted: () => number;
  /** Bytes of answers that were passed on so far. */
  readonly passed: () => number;
};

/** Starts a proxy to `target` that ends with the test. */
export async function startProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let limit: number | undefined;
  let silent = false;
  let accepted = 0;
  let passed = 0;
  const server = createServer((client) => {
    accepted += 1;
    const upstream = connect(Number(port), hostname);
    const allowed = limit;
    let answered = 0;
    const both = [client, upstream];
    const end = (): void => both.forEach((socket) => socket.destroy());
    for (const socket of both) {
      sockets.add(socket);
      socket.on('error', end);
      socket.on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (data) => silent || upstream.write(data));
    upstream.on('data', (data) => {
      if (silent) return;
      const part = data.subarray(0, (allowed ?? Infinity) - answered);
      answered += part.length;
      passed += part.length;
      if (part.length < data.length) client.end(part, end);
      else if (!client.write(part)) {
        upstream.pause();
        client.once('drain', () => upstream.resume());
      }
    });
  });
  const cut = (): void => sockets.forEach((socket) => socket.destroy());
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const own = (server.address() as AddressInfo).port;
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    cutAfter: (bytes) => {
      limit = bytes;
    },
    silence: (now) => {
      silent = now;
    },
    listen: async (open) => {
      if (!open) return close();
      server.listen(own, '127.0.0.1');
      await once(server, 'listening');
    },
    accepted: () => accepted,
    passed: () => passed,
  };
}
