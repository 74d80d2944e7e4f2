import { once } from 'node:events';
import {
  createServer,
  request as requestHttp,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A server in front of another one, which says that it is a cluster of three nodes. */
export type CopiesProxy = {
  /** With the credentials of the server behind it. */
  readonly url: string;
  /** Paths of the requests that were passed on. */
  readonly paths: readonly string[];
  /** The next so many answers to `_bulk_docs` say 202: stored, but not on enough nodes. */
  readonly accept: (answers: number) => void;
  /** How many copies it says from now on; before, what was asked for when the database was made. */
  readonly keep: (copies: number) => void;
  /** Breaks all connections of this moment. */
  readonly cut: () => void;
};

const nodes = ['a@127.0.0.1', 'b@127.0.0.1', 'c@127.0.0.1'];

/** Starts a proxy to `target` that ends with the test. */
export async function startCopiesProxy(target: string): Promise<CopiesProxy> {
  const behind = new URL(target);
  const paths: string[] = [];
  let accepted = 0;
  let copies = nodes.length;
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = 'GET', url: path = '/', headers } = incoming;
    paths.push(`${method} ${path}`);
    const { hostname, port } = behind;
    const request = requestHttp({ hostname, port, method, path, headers, agent: false });
    outgoing.on('close', () => request.destroy());
    request.on('error', () => outgoing.destroy());
    incoming.pipe(request);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const isDatabase = method === 'GET' && /^\/[^/?_][^/?]*$/.test(path);
    const isAccepted = path.endsWith('/_bulk_docs') && accepted > 0;
    const asked = method === 'PUT' ? /^\/[^/?]+\?n=(\d+)$/.exec(path)?.[1] : undefined;
    if (asked !== undefined) copies = Number(asked);
    if (path === '/_membership') {
      await textOf(answer);
      const membership = { all_nodes: nodes, cluster_nodes: nodes };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(membership));
      return;
    }
    if (!isDatabase && !isAccepted) {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      return;
    }
    const body = await textOf(answer);
    if (isAccepted) accepted -= 1;
    const text = isDatabase ? withCopies(body, copies) : withAccepted(body);
    const status = isAccepted ? 202 : (answer.statusCode ?? 500);
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(text);
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
  const { port } = server.address() as AddressInfo;
  const url = new URL(target);
  url.port = String(port);
  return {
    url: url.href.replace(/\/$/, ''),
    paths,
    accept: (answers) => {
      accepted = answers;
    },
    keep: (count) => {
      copies = count;
    },
    cut: () => server.closeAllConnections(),
  };
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function withCopies(body: string, n: number): string {
  const database = JSON.parse(body) as Record<string, unknown>;
  if (database['db_name'] === undefined) return body;
  return JSON.stringify({ ...database, cluster: { q: 2, n, w: 2, r: 2 } });
}

function withAccepted(body: string): string {
  const rows = JSON.parse(body) as readonly Record<string, unknown>[];
  return JSON.stringify(rows.map((row) => (row['rev'] ? { ...row, accepted: true } : row)));
}
