import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../config/address.js';
import { isBehindProxy, isSecure, type HttpSettings } from '../../config/http.js';
import { isForwarded } from './identify.js';

/** How a request came in. */
export type Arrived = {
  /** `https`: encrypted up to here, or up to a proxy that is believed and says so. */
  readonly protocol: string;
  /** Address of the other end of the connection. */
  readonly from: string | undefined;
  readonly headers: IncomingHttpHeaders;
};

/**
 * Whether nobody on the way can read a request and its answer: it came over HTTPS, or from this machine. A proxy on
 * this machine may send no header; where the settings tell of one, it must be one with HTTPS.
 */
export function isConfidential(
  { protocol, from = '', headers }: Arrived,
  settings: Pick<HttpSettings, 'public_url' | 'trust_proxy' | 'tls'>,
): boolean {
  if (protocol === 'https') return true;
  const isHere = isLoopback(from.replace(/^::ffff:(?=\d+\.)/i, '')) && !isForwarded(headers);
  return isHere && (!isBehindProxy(settings) || isSecure(settings));
}
