import type { IncomingHttpHeaders } from 'node:http';
import { problem } from '../../errors.js';
import { isLoopback } from '../../config/address.js';

export type OriginOptions = {
  /** How browsers reach us, when that is not what they send as host. */
  readonly publicUrl: string | undefined;
  /** Only this machine may ask: a foreign name for it is somebody's trick. */
  readonly loopbackOnly: boolean;
};

/** The header that no page of another origin can send. */
export const requestHeader = 'x-tws-request';

/**
 * Refuses what a page of another origin has a visitor's browser do: writes from elsewhere, writes
 * with a cookie and without our header, and names of other hosts that lead to this machine.
 * @throws TwsError `origin_refused`, `csrf_header_missing`
 */
export function assertOwnOrigin(
  method: string,
  headers: IncomingHttpHeaders,
  byCookie: boolean,
  { publicUrl, loopbackOnly }: OriginOptions,
): void {
  const { host = '', origin } = headers;
  if (loopbackOnly && !isLoopback(nameIn(host))) throw problem('origin_refused', { origin: host });
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return;
  if (origin !== undefined && !isOwn(origin, host, publicUrl)) {
    throw problem('origin_refused', { origin });
  }
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') {
    throw problem('origin_refused', { origin: origin ?? 'another origin' });
  }
  if (byCookie && headers[requestHeader] === undefined) throw problem('csrf_header_missing', {});
}

function isOwn(origin: string, host: string, publicUrl: string | undefined): boolean {
  if (!URL.canParse(origin)) return false;
  const { host: from, origin: whole } = new URL(origin);
  return from === host || (publicUrl !== undefined && new URL(publicUrl).origin === whole);
}

/** The host without its port. */
function nameIn(host: string): string {
  return host.replace(/:\d+$/, '');
}

/**
 * The headers as `assertOwnOrigin` looks at them: a page that sends no referrer tells no origin either, and where the
 * address is the credential none is needed.
 */
export function originShown(
  isCredential: boolean | undefined,
  headers: IncomingHttpHeaders,
): IncomingHttpHeaders {
  const { origin, ...others } = headers;
  return isCredential === true && origin === 'null' ? others : headers;
}
