import { linkEnding, onSilence } from '../feeds/ending.js';
import type { Update } from '../feeds/update-log.js';
import { refuse } from '../http/couch-error.js';
import { sendJson, writePiece, type Exchange } from '../http/exchange.js';

const DEFAULT_MS = 60_000;
const MAX_MS = 86_400_000;

/** GET of `_db_updates`: what happened to databases since the server started. */
export async function dbUpdates(x: Exchange): Promise<void> {
  const { updates } = x.context;
  const feed = x.query.text('feed') ?? 'normal';
  const since = sinceOf(x);
  switch (feed) {
    case 'longpoll':
      await waitForUpdate(x, since);
      break;
    case 'continuous':
      return stream(x, since);
    case 'normal':
      break;
    default:
      throw refuse.badRequest('Supported `feed` types: normal, longpoll, continuous.');
  }
  const results = updates.after(since).map(asRow);
  sendJson(x, 200, { results, last_seq: format(updates.last()), pending: 0 });
}

const format = (seq: number): string => `${seq}-g1AAAA`;
const asRow = (update: Update): object => ({ ...update, seq: format(update.seq) });

function sinceOf({ query, context }: Exchange): number {
  const given = query.text('since') ?? '0';
  return given === 'now' ? context.updates.last() : Number.parseInt(given, 10) || 0;
}

const timeoutOf = ({ query }: Exchange): number =>
  Math.min(query.count('timeout') ?? DEFAULT_MS, MAX_MS);

async function waitForUpdate(x: Exchange, since: number): Promise<void> {
  const ending = linkEnding(x.gone, x.context.stopping);
  const silence = onSilence(timeoutOf(x), ending.stop);
  await x.context.updates.wait(since, ending.signal);
  silence.clear();
  ending.release();
}

/** Events as they come; without a `timeout` a newline a minute keeps the line open. */
async function stream(x: Exchange, from: number): Promise<void> {
  const { updates, stopping } = x.context;
  const ending = linkEnding(x.gone, stopping);
  const beat = (): void => void x.response.write('\n');
  const silence = onSilence(timeoutOf(x), x.query.has('timeout') ? ending.stop : beat);
  x.response.writeHead(200, { 'content-type': 'application/json' });
  x.response.flushHeaders();
  let since = from;
  while (!ending.signal.aborted) {
    for (const update of updates.after(since)) {
      silence.touch();
      await writePiece(x, `${JSON.stringify(asRow(update))}\n`);
      since = update.seq;
    }
    await updates.wait(since, ending.signal);
  }
  silence.clear();
  ending.release();
  x.response.end(`${JSON.stringify({ last_seq: format(since) })}\n`);
}
