import type { IncomingHttpHeaders } from 'node:http';
import { uuidV7 } from './uuid.js';

/** What every answer of the façade has, whatever the request was. */

export const ojsVersion = '1.0';
export const ojsType = 'application/openjobspec+json';
/** Where the façade is. */
export const ojsPrefix = '/ojs';

/** Whether a path belongs to the façade. */
export function isOjsPath(url: string): boolean {
  return /^\/ojs(?:[/?]|$)/.test(url);
}

/** Version and id of the request: that of whoever asks, where it is a sensible one. */
export function ojsHeaders(headers: IncomingHttpHeaders, now: number) {
  const [given] = [headers['x-request-id']].flat();
  const isGood = given !== undefined && /^[\w.:-]{1,200}$/.test(given);
  return {
    'ojs-version': ojsVersion,
    'x-request-id': isGood ? given : `req_${uuidV7(now)}`,
  };
}

/** Endpoints that the binding names and that are not there. */
const absent: readonly {
  readonly form: RegExp;
  readonly what: string;
  readonly because: string;
}[] = [
  {
    form: /^\/ojs\/v1\/schemas(?:\/|$)/,
    what: 'A registry of schemas',
    because: 'tasks and flows carry the schema of their parameters themselves.',
  },
  {
    form: /^\/ojs\/v1\/(?:admin|debug|ws|realtime|jobs\/[^/]+\/(?:events|progress))(?:\/|$)/,
    what: 'This extension',
    because: 'the API below /_tws has searching, history and a stream of changes.',
  },
];

/** Why there is nothing at a path that the binding or an extension names; undefined for any other. */
export function absenceOf(path: string) {
  const found = absent.find(({ form }) => form.test(path));
  return found && { what: found.what, because: found.because };
}
