import { isServerAdmin, USERS } from '../auth/users.js';
import type { Database } from '../databases/database.js';
import { changeReader, type ChangeReader } from '../feeds/change-reader.js';
import { openFeed, type FeedStyle } from '../feeds/feed.js';
import { openFilter } from '../feeds/filters.js';
import { readJsonObject, requireJsonType } from '../http/body.js';
import { refuse } from '../http/couch-error.js';
import { writePiece, type Exchange } from '../http/exchange.js';
import { eitherQuery, queryFromBody, type RequestQuery } from '../http/query.js';

/** GET and POST of `_changes`, in all its feeds. */
export async function getChanges(x: Exchange, database: Database): Promise<void> {
  if (database.name === USERS && !isServerAdmin(x.user)) {
    throw refuse.forbidden('Only admins can access _changes of this database.');
  }
  const reader = await readRequest(x, database);
  switch (reader.feed) {
    case 'normal':
      return sendNormal(x, database, reader);
    case 'longpoll':
      return sendLongpoll(x, database, reader);
    case 'continuous':
      return sendStream(x, database, reader, 'continuous');
    case 'eventsource':
      return sendStream(x, database, reader, 'eventsource');
  }
}

type Request = ChangeReader & {
  readonly feed: 'normal' | 'longpoll' | FeedStyle;
  readonly since: number;
  readonly limit: number;
  readonly heartbeatMs: number | undefined;
  readonly timeoutMs: number;
};

const DEFAULT_TIMEOUT_MS = 60_000;

async function readRequest(x: Exchange, database: Database): Promise<Request> {
  let body = {};
  if (x.method === 'POST') {
    requireJsonType(x.request);
    body = await readJsonObject(x.request);
  }
  const query = eitherQuery(x.query, queryFromBody(body));
  const feed = query.text('feed') ?? 'normal';
  if (feed !== 'normal' && feed !== 'longpoll' && feed !== 'continuous' && feed !== 'eventsource') {
    throw refuse.badRequest('Supported `feed` types: normal, longpoll, continuous, eventsource.');
  }
  const filter = await openFilter({ database, pool: x.context.pool, query, body, user: x.user });
  const lastEvent = x.request.headers['last-event-id'];
  const since = query.text('since') ?? (typeof lastEvent === 'string' ? lastEvent : '0');
  return {
    ...changeReader(database, query, filter),
    feed,
    since: since === 'now' ? await database.store.updateSeq() : database.parseSeq(since),
    // CouchDB answers one row for a limit of 0 too.
    limit: Math.max(1, query.count('limit') ?? Infinity),
    heartbeatMs: heartbeatOf(query),
    timeoutMs: Math.min(query.count('timeout') ?? DEFAULT_TIMEOUT_MS, 86_400_000),
  };
}

function heartbeatOf(query: RequestQuery): number | undefined {
  const text = query.text('heartbeat');
  if (text === undefined || text === 'false') return undefined;
  if (text === 'true') return DEFAULT_TIMEOUT_MS;
  const ms = query.count('heartbeat') ?? 0;
  if (ms === 0)
    throw refuse.badRequest('The heartbeat value should be a positive integer (in milliseconds).');
  return Math.min(ms, 86_400_000);
}

const HEADERS = { 'content-type': 'application/json', 'cache-control': 'must-revalidate' };

/** All rows there are now, streamed: the answer may be larger than memory should be. */
async function sendNormal(x: Exchange, database: Database, request: Request): Promise<void> {
  const rows = request.rows(request.since, request.limit);
  // The first page is read before the status goes out, so that a failing filter has an error.
  let next = await rows.next();
  x.response.writeHead(200, HEADERS);
  let separator = '';
  await writePiece(x, '{"results":[\n');
  for (; next.done !== true; next = await rows.next()) {
    if (!(await writePiece(x, separator + next.value.join(',\n')))) return;
    separator = ',\n';
  }
  await end(x, database, next.value);
}

async function end(x: Exchange, database: Database, last: number): Promise<void> {
  // The database may be gone by now; the answer is whole all the same.
  const newest = await database.store.updateSeq().catch(() => last);
  const pending = Math.max(0, newest - last);
  const seq = JSON.stringify(database.formatSeq(last));
  x.response.end(`\n],\n"last_seq":${seq},"pending":${pending}}\n`);
}

/** Waits for the first rows when there are none yet. */
async function sendLongpoll(x: Exchange, database: Database, request: Request): Promise<void> {
  const feed = openFeed(x, database, request, 'longpoll');
  let since = request.since;
  let first = true;
  for (;;) {
    const rows = request.rows(since, request.limit);
    let next = await rows.next();
    if (first) {
      x.response.writeHead(200, HEADERS);
      x.response.flushHeaders();
      await writePiece(x, '{"results":[\n');
      first = false;
    }
    let separator = '';
    for (; next.done !== true; next = await rows.next()) {
      feed.quiet();
      if (!(await writePiece(x, separator + next.value.join(',\n')))) return feed.close();
      separator = ',\n';
    }
    since = next.value;
    if (separator !== '' || !(await feed.wait(since))) break;
  }
  feed.close();
  if (!x.gone.aborted) await end(x, database, since);
}

/** Rows for as long as the client listens, the database lives and the feed is not silent for too long. */
async function sendStream(
  x: Exchange,
  database: Database,
  request: Request,
  style: FeedStyle,
): Promise<void> {
  const feed = openFeed(x, database, request, style);
  let since = request.since;
  let left = request.limit;
  try {
    do {
      const rows = request.rows(since, left);
      let next = await rows.next();
      feed.begin();
      for (; next.done !== true; next = await rows.next()) {
        left -= next.value.length;
        if (!(await feed.rows(next.value))) return;
      }
      since = next.value;
    } while (left > 0 && (await feed.wait(since)));
    await feed.end(since);
  } finally {
    feed.close();
  }
}
