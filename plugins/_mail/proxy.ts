import { once } from 'node:events';
import * as http from 'node:http';
import { isIP, type Socket } from 'node:net';
import * as tls from 'node:tls';
import { connectWithin, percentDecoded, type EgressPolicy } from '../../src/plugin/index.js';
import { refusedOption, type Smtp } from './smtp-options.js';

/** The way to a mail server through a proxy. `port`: of the mail server. */
export type Tunnel = {
  readonly proxy: URL;
  readonly host: string;
  readonly port: number;
  readonly tls: Readonly<Record<string, unknown>>;
};

/** The proxy of a mail server; undefined: there is none. @throws PluginError `MailOptionRefused` */
export function proxyOf({ proxy }: Smtp): URL | undefined {
  if (proxy === undefined || proxy === null || proxy === '') return undefined;
  if (typeof proxy === 'string' && URL.canParse(proxy)) {
    const url = new URL(proxy);
    if (/^https?:$/.test(url.protocol) && url.hostname !== '') return url;
  }
  throw refusedOption('The parameter smtp.proxy must be an address with http or https.');
}

/**
 * Connects to a mail server through a proxy (`CONNECT`). The proxy is judged by the address that the
 * socket uses; its certificate is verified for the name in `proxy`.
 * @throws PluginError `EgressDenied`; rejects with what the proxy or the system says
 */
export async function connectThrough(
  tunnel: Tunnel,
  egress: EgressPolicy,
  signal: AbortSignal,
): Promise<Socket> {
  const { proxy } = tunnel;
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const isSafe = proxy.protocol === 'https:';
  const port = Number(proxy.port) || (isSafe ? 443 : 80);
  const socket = await connectWithin(egress, { host, port }, signal);
  try {
    return await opened(
      isSafe ? await secured(socket, host, tunnel, signal) : socket,
      tunnel,
      signal,
    );
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function secured(
  socket: Socket,
  host: string,
  { tls: { rejectUnauthorized } }: Tunnel,
  signal: AbortSignal,
): Promise<Socket> {
  const safe = tls.connect({
    socket,
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    rejectUnauthorized: rejectUnauthorized !== false,
  });
  await once(safe, 'secureConnect', { signal });
  return safe;
}

const longestAnswerMs = 60_000;

async function opened(
  socket: Socket,
  { proxy, host, port }: Tunnel,
  signal: AbortSignal,
): Promise<Socket> {
  const to = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const request = http.request({
    method: 'CONNECT',
    path: to,
    headers: { host: to, ...authorization(proxy) },
    createConnection: () => socket,
    signal,
  });
  request.setTimeout(longestAnswerMs, () =>
    request.destroy(new Error(`The proxy did not answer within ${longestAnswerMs} ms`)),
  );
  request.end();
  const [{ statusCode = 0 }, , head] = (await once(request, 'connect')) as [
    http.IncomingMessage,
    Socket,
    Buffer,
  ];
  if (statusCode < 200 || statusCode > 299) {
    throw new Error(`The proxy answered ${statusCode} when asked for ${to}`);
  }
  socket.setTimeout(0);
  if (head.length > 0) socket.unshift(head);
  return socket;
}

function authorization({ username, password }: URL) {
  if (username === '' && password === '') return {};
  const user = [username, password].map(percentDecoded).join(':');
  return { 'proxy-authorization': `Basic ${Buffer.from(user, 'utf8').toString('base64')}` };
}
