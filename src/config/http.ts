import { defaultHost, isLoopback } from './address.js';
import type { SettingsFile } from './file.js';
import { said, type Sources } from './read.js';

/** `http` of tws.json: settings of the HTTP API. */
export type HttpSettings = NonNullable<SettingsFile['http']>;

/**
 * Whether other machines can reach the API: it listens on more than a loopback address, or a proxy brings
 * requests of others, whether its headers say so or not. A `public_url` on a loopback address is that
 * of a page of this machine.
 */
export function isReachable(settings: HttpSettings): boolean {
  return !isLoopback(settings.host ?? defaultHost) || isBehindProxy(settings);
}

/** Whether the settings tell of a proxy. */
export function isBehindProxy({
  public_url: url,
  trust_proxy: proxies,
}: Pick<HttpSettings, 'public_url' | 'trust_proxy'>): boolean {
  return proxies !== undefined || (url !== undefined && !isLoopback(new URL(url).hostname));
}

/** Whether passwords and tokens travel encrypted, on the whole way or up to a proxy. */
export function isSecure({
  tls,
  public_url: url,
}: Pick<HttpSettings, 'tls' | 'public_url'>): boolean {
  return tls !== undefined || (url !== undefined && new URL(url).protocol === 'https:');
}

/** The address that is said, as far as it is. */
export function addressIn(sources: Sources): Pick<HttpSettings, 'host' | 'port'> {
  const { value: host } = said('http.host', sources);
  const { value: port } = said('http.port', sources);
  return { ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) };
}
