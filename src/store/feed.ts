import { setTimeout as sleep } from 'node:timers/promises';
import { TwsError } from '../errors.js';
import { failuresAfter, usualBackoff, backoffMs, type Backoff } from './backoff.js';
import { readLine, type Change } from './change.js';
import type { CouchClient } from './client.js';
import { openFeedLink } from './feed-link.js';
import { readDatabase, type DatabaseState } from './database-state.js';
import type { StoreLog } from './log.js';
import type { OwnWrite } from './own-writes.js';

/** How the feed is doing. `cause` is a few words or a sentence, without credentials. */
export type FeedState =
  /** `copies`: how many the database keeps of every document. */
  /** `other`: the database is another one of that name than before. */
  | { readonly kind: 'following'; readonly copies: number; readonly other?: true }
  | { readonly kind: 'lost'; readonly cause: string; readonly retryInMs: number };

export type FollowOptions = {
  /** The sequence after which changes are wanted: of `info()`, `'0'` or `'now'`. */
  readonly since: string;
  /** Ends the feed; no error is thrown for it. */
  readonly signal: AbortSignal;
  /** Called once for each change of state; further failures of the same cause are not reported. */
  readonly onState?: (state: FeedState) => void;
  /** How often the server gives a sign of life; after three times of silence it counts as lost. */
  readonly heartbeatMs?: number;
  readonly backoff?: Backoff;
  /** false: changes bring revisions only, which costs the server less; default: their documents, too. */
  readonly documents?: boolean;
  /** Source of the jitter, 0 to below 1. */
  readonly random?: () => number;
};

/** How a store follows. `own`: finds what this process wrote. */
type Following = FollowOptions & {
  readonly log?: StoreLog | undefined;
  readonly own?: OwnWrite | undefined;
};

/** Three times as much is less than half a lease: a silent feed is given up before its peers are. */
const usualHeartbeatMs = 1_500;

/**
 * Follows `_changes` until `signal` aborts. Feed invariants:
 * T3 every change is handed out at least once, in the order of the feed, after a broken connection
 *    from the last one that was handed out;
 * T4 no failure of the server or of the network ends it;
 * T5 nothing is read ahead beyond the buffers of the socket while the consumer is busy;
 * T6 a database that was deleted and made anew is read from its beginning.
 */
export async function* followChanges(
  client: CouchClient,
  options: Following,
): AsyncGenerator<Change, void, undefined> {
  const { signal, backoff = usualBackoff, random = Math.random } = options;
  const tell = stateTeller(options.onState);
  const place: Place = { since: options.since, identity: undefined, missed: false };
  let failures = 0;
  while (!signal.aborted) {
    let lost: Lost = { cause: 'the server ended the feed', slowly: false };
    let followsSince: number | undefined;
    try {
      for await (const event of follow(client, place, options)) {
        if ('copies' in event) {
          followsSince = performance.now();
          tell(event);
        } else yield event;
        if (signal.aborted) return;
      }
    } catch (error) {
      lost = lossOf(error, place);
    }
    if (signal.aborted) return;
    const livedMs = followsSince === undefined ? 0 : performance.now() - followsSince;
    failures = failuresAfter(failures, livedMs, options.heartbeatMs ?? usualHeartbeatMs);
    const retryInMs = lost.slowly ? backoff.refusedMs : backoffMs(failures, random(), backoff);
    tell({ kind: 'lost', cause: lost.cause, retryInMs });
    await sleep(retryInMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Where we are: moved on by every change that was handed out. */
type Place = { since: string; identity: string | undefined; missed: boolean };

/** One life of a connection: says that it follows, then its changes; throws when it breaks. */
async function* follow(
  client: CouchClient,
  place: Place,
  options: Following,
): AsyncGenerator<Extract<FeedState, { kind: 'following' }> | Change> {
  const { signal, heartbeatMs = usualHeartbeatMs, log } = options;
  const database = await readDatabase(client, signal);
  const other = settlePlace(place, database);
  const { copies } = database;
  const { documents = true } = options;
  const query = { since: place.since, heartbeatMs, conflicts: copies > 1, documents };
  const { status, lines } = await openFeedLink(client.connection, query, signal);
  if (status !== 200) {
    // An old sequence may be unreadable for this database; the beginning always is.
    if (status === 400) place.since = '0';
    for await (const text of lines) throw new Error(`the feed is answered with ${status}: ${text}`);
    throw new Error(`the feed is answered with ${status}`);
  }
  yield { kind: 'following', copies, ...(other ? { other: true as const } : {}) };
  let isFeed = false;
  for await (const text of lines) {
    // With several copies a document may be in conflict, which it says itself.
    const line = await readLine(text, copies > 1 ? undefined : options.own);
    if (!isFeed && line.kind === 'malformed') throw new Error('the answer is not a feed');
    isFeed = true;
    switch (line.kind) {
      case 'heartbeat':
        break;
      case 'change':
        yield line.change;
        place.since = line.change.seq;
        break;
      case 'end':
        place.since = line.seq;
        return;
      case 'error':
        throw new Error(line.cause);
      case 'malformed':
        log?.warn(
          { line: text.slice(0, 200) },
          'A line of the feed cannot be read; it is left out.',
        );
    }
  }
}

/**
 * Decides where to go on (T6). CouchDB from 3.3 on tells databases of one name apart by the time of
 * their making, and begins anew by itself when a sequence is of another one; where that time is not
 * told, having missed the database and a position beyond its end give it away.
 */
function settlePlace(place: Place, now: DatabaseState): boolean {
  const known = place.identity !== undefined && now.identity !== undefined;
  const other = known
    ? place.identity !== now.identity
    : place.missed || position(place.since) > position(now.updateSeq);
  if (other) place.since = '0';
  place.identity = now.identity;
  place.missed = false;
  return other;
}

/** Sequences are opaque, but all servers put the number of changes in front. */
function position(seq: string): number {
  return Number.parseInt(seq, 10);
}

/** `slowly`: name or password is refused. */
type Lost = { readonly cause: string; readonly slowly: boolean };

function lossOf(error: unknown, place: Place): Lost {
  if (!(error instanceof Error)) return { cause: String(error), slowly: false };
  const code = error instanceof TwsError ? error.code : undefined;
  if (code === 'database_missing') {
    place.missed = true;
    return { cause: 'database missing', slowly: false };
  }
  return { cause: error.message, slowly: code === 'couch_unauthorized' };
}

function stateTeller(onState: FollowOptions['onState']): (state: FeedState) => void {
  let last = '';
  return (state) => {
    const summary = state.kind === 'lost' ? `lost: ${state.cause}` : state.kind;
    if (summary === last) return;
    last = summary;
    onState?.(state);
  };
}
