import { TwsError } from '../errors.js';

const taken = ['port_taken', 'mailbox_port_taken'];

/** Starts a server on a port, or on any free one where that is taken: `start` is then called with 0. */
export async function onFreePort<T>(port: number, start: (port: number) => Promise<T>): Promise<T> {
  try {
    return await start(port);
  } catch (error) {
    if (port === 0 || !(error instanceof TwsError) || !taken.includes(error.code)) throw error;
    return start(0);
  }
}

/** What a CouchDB at a port of this machine calls its version; undefined: none answers there. */
export async function couchVersionAt(port: number): Promise<string | undefined> {
  try {
    const url = `http://127.0.0.1:${port}/`;
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    const answer = (await response.json()) as { readonly couchdb?: unknown; version?: unknown };
    return answer.couchdb === undefined ? undefined : String(answer.version);
  } catch {
    return undefined;
  }
}
