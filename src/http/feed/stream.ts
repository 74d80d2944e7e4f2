import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../client.js';
import { summaryOf } from '../../client-rules.js';
import type { StoredDocument } from '../../model/document.js';
import { withoutSecrets } from '../answers/redact.js';
import type { Sink } from '../route.js';
import { jobChangeOf, type JobHub, type JobFeedEvent } from './hub.js';
import { jsonText } from '../plumbing/json-text.js';

/**
 * Server-sent events of changes of jobs.
 *
 * X3 Who comes back with the id of the last event is told what has happened since, at least once.
 * X4 A reader that is slower than the changes costs bounded memory: of each job the last state is
 *    kept, and when too many jobs wait, the reader is told to look at everything anew (`reset`).
 * X5 Every `heartbeatMs` something is sent, so that both ends notice when the other is gone.
 * X6 Nothing is told to whoever lost his right to it more than `askMs` ago; while the database is
 *    away, and cannot say so, he is kept and told nothing.
 */
export type StreamOptions = {
  readonly client: Pick<Client, 'changes'>;
  readonly hub: JobHub;
  /** The last event that the reader saw. */
  readonly since: string | undefined;
  /** Whether a job is of interest; of one that is gone only the owner is known, if at all. */
  readonly wants: (job: StoredDocument) => boolean;
  readonly wantsRemoved: (owner: string | undefined) => boolean;
  readonly heartbeatMs: number;
  /**
   * Asked now and then; the stream ends when somebody may not read any more. Undefined while that
   * cannot be told.
   */
  readonly mayGoOn: () => Promise<boolean | undefined>;
  readonly signal: AbortSignal;
  readonly now: () => number;
};

/** So many jobs may wait for a slow reader. */
const mostWaiting = 1_000;
/** Changes read at a time, and in all, to catch up. */
const page = 500;
const mostMissed = 20_000;

/** Writes events until the signal aborts, or the reader may not read any more. */
export async function streamChanges(sink: Sink, options: StreamOptions): Promise<void> {
  const { hub, since, heartbeatMs, signal } = options;
  const outbox = createOutbox(options);
  const leave = await hub.listen(outbox.put);
  signal.addEventListener('abort', outbox.wake);
  try {
    await sink.write('retry: 3000\n\n');
    if (since === undefined) await sink.write(eventOf('ready', hub.position() ?? '', {}));
    else await catchUp(sink, since, options);
    let asked = performance.now();
    while (!signal.aborted) {
      const lines = await outbox.take(heartbeatMs);
      if (signal.aborted) return;
      // Also in a stream that is never silent.
      if (lines === '' || performance.now() - asked >= askMs) {
        if (!(await isPermitted(sink, options))) return;
        asked = performance.now();
      }
      await sink.write(lines === '' ? alive : lines);
    }
  } finally {
    signal.removeEventListener('abort', outbox.wake);
    leave();
  }
}

/** So often a stream that is never silent is asked whether it may go on, ms. */
const askMs = 5_000;
const alive = ': still here\n\n';

/** Whether somebody may read on (X6). */
async function isPermitted(sink: Sink, options: StreamOptions): Promise<boolean> {
  const { mayGoOn, heartbeatMs, signal } = options;
  while (!signal.aborted) {
    const may = await mayGoOn();
    if (may !== undefined) return may;
    await sink.write(alive);
    await sleep(Math.min(askMs, heartbeatMs), undefined, { signal }).catch(() => undefined);
  }
  return false;
}

type Outbox = {
  readonly put: (change: JobFeedEvent) => void;
  readonly wake: () => void;
  /** The events that wait; empty when none came within so many ms. */
  readonly take: (withinMs: number) => Promise<string>;
};

/** What waits for a reader: of each job the newest (X4). */
function createOutbox(options: StreamOptions): Outbox {
  const waiting = new Map<string, { readonly seq: string; readonly text: string }>();
  let overflow: string | undefined;
  let wake: () => void = () => undefined;
  return {
    wake: () => wake(),
    put: (change) => {
      const text = textOf(change, options);
      if (text === undefined) return;
      const id = change.kind === 'changed' ? change.job._id : change.id;
      // Behind the others: an event's id says that all before it were sent.
      waiting.delete(id);
      waiting.set(id, { seq: change.seq, text });
      if (waiting.size > mostWaiting) {
        waiting.clear();
        overflow = change.seq;
      }
      wake();
    },
    take: async (withinMs) => {
      if (waiting.size === 0 && overflow === undefined) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, withinMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        wake = () => undefined;
      }
      const reset = overflow === undefined ? '' : resetEvent(overflow);
      const lines = [...waiting.values()].map(({ text }) => text).join('');
      waiting.clear();
      overflow = undefined;
      return `${reset}${lines}`;
    },
  };
}

/** Tells what a reader missed (X3); when that is not known any more, that it has to look anew. */
async function catchUp(sink: Sink, since: string, options: StreamOptions): Promise<void> {
  const { hub, client, signal } = options;
  const recent = hub.since(since);
  if (recent !== undefined) {
    for (const change of recent) await sink.write(textOf(change, options) ?? '');
    return;
  }
  let from = since;
  const owners = new Map<string, string>();
  for (let read = 0; !signal.aborted; read += page) {
    const past = read >= mostMissed ? undefined : await client.changes(from, page);
    if (past === undefined || past.kind === 'unknown') {
      return sink.write(resetEvent(hub.position() ?? ''));
    }
    for (const change of past.changes) {
      const jobChange = jobChangeOf(change, owners);
      await sink.write((jobChange && textOf(jobChange, options)) ?? '');
    }
    from = past.seq;
    if (!past.more) return;
  }
}

function textOf(change: JobFeedEvent, options: StreamOptions): string | undefined {
  const { wants, wantsRemoved, now } = options;
  if (change.kind === 'removed') {
    const { id, seq, owner } = change;
    return wantsRemoved(owner) ? eventOf('removed', seq, { id }) : undefined;
  }
  if (!wants(change.job)) return undefined;
  const known = texts.get(change);
  if (known !== undefined) return known;
  const text = eventOf('job', change.seq, withoutSecrets(summaryOf(change.job, now())));
  texts.set(change, text);
  return text;
}

/** Many readers are told the same. */
const texts = new WeakMap<JobFeedEvent, string>();

/** The reader missed something: it has to read the list again. */
function resetEvent(seq: string): string {
  return eventOf('reset', seq, {});
}

/** JSON has no line ends of its own. */
function eventOf(event: string, id: string, data: unknown): string {
  return `id: ${id}\nevent: ${event}\ndata: ${jsonText(data)}\n\n`;
}
