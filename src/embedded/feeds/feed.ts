import type { Database } from '../databases/database.js';
import { writePiece, type Exchange } from '../http/exchange.js';
import { linkEnding, onSilence } from './ending.js';

export type FeedStyle = 'continuous' | 'eventsource';

/** The output side of a feed that stays open: rows, heartbeats, the end after silence. */
export type Feed = {
  /** Sends the head of the answer, once. */
  begin(): void;
  /** False when the client went away. */
  rows(json: readonly string[]): Promise<boolean>;
  /** Something was sent: silence starts over. */
  quiet(): void;
  /** True when there is something after `since`; false when the feed is to end. */
  wait(since: number): Promise<boolean>;
  /** Ends the answer with the sequence to resume from. */
  end(since: number): Promise<void>;
  /** Stops the timers. */
  close(): void;
};

type Limits = { readonly heartbeatMs: number | undefined; readonly timeoutMs: number };

/** Opens a feed; with a heartbeat it never ends by silence, as in CouchDB. */
export function openFeed(
  x: Exchange,
  database: Database,
  { heartbeatMs, timeoutMs }: Limits,
  style: FeedStyle | 'longpoll',
): Feed {
  const { response } = x;
  const ending = linkEnding(x.gone, x.context.stopping);
  const silence = onSilence(heartbeatMs ?? timeoutMs, () => {
    if (heartbeatMs === undefined) ending.stop();
    else if (response.headersSent && !response.writableNeedDrain) {
      response.write(style === 'eventsource' ? 'event: heartbeat\ndata: \n\n' : '\n');
    }
  });
  let began = false;

  return {
    quiet: () => silence.touch(),
    begin() {
      if (began) return;
      began = true;
      const type = style === 'eventsource' ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type, 'cache-control': 'must-revalidate' });
      response.flushHeaders();
    },
    rows(json) {
      silence.touch();
      return writePiece(x, json.map(style === 'eventsource' ? asEvent : asLine).join(''));
    },
    async wait(since) {
      await database.hub.wait(since, ending.signal);
      return !ending.signal.aborted && !database.hub.closed;
    },
    async end(since) {
      if (response.destroyed || x.gone.aborted) return;
      const last = { last_seq: database.formatSeq(since), pending: 0 };
      if (style === 'continuous') await writePiece(x, `${JSON.stringify(last)}\n`);
      response.end();
    },
    close() {
      silence.clear();
      ending.release();
    },
  };
}

const asLine = (json: string): string => `${json}\n`;

function asEvent(json: string): string {
  const { seq } = JSON.parse(json) as { seq: string };
  return `data: ${json}\nid: ${seq}\n\n`;
}
