import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Effect, Protocol, Stored } from '../decide/copies/protocol.js';
import { borrowedIn, winnerFirst, type NewDraft, type Tip } from '../decide/copies/tips.js';
import { inReadingOrder } from '../model/reading-order.js';
import type { Store } from '../store/store.js';
import { giveUp } from './abandon.js';
import type { Log } from './log.js';
import type { Once } from './once.js';
import type { Retry } from './patience.js';

/** What a protocol is driven with. */
export type Driver = {
  readonly store: Pick<Store, 'write' | 'get' | 'tips' | 'attachment'>;
  readonly retry: Retry;
  readonly log: Log;
  readonly once: Pick<Once, 'tell' | 'stored'>;
  /** Aborted: nothing is written any more. */
  readonly life: AbortSignal;
  /** Copies that the database keeps of every document. */
  readonly copies: () => number;
  /**
   * An answer that took longer (ms) says nothing about now: the process may have stood still, and
   * others may have taken it for dead meanwhile.
   */
  readonly patienceMs: number;
  /** A longer document is refused, bytes. */
  readonly mostBytes?: number;
};

/** Does what a protocol asks for, one thing after the other, and returns what comes of it. */
export async function drive<T>(protocol: Protocol<T>, driver: Driver): Promise<T> {
  let step = protocol.next();
  while (step.done !== true) step = protocol.next(await perform(step.value, driver));
  return step.value;
}

async function perform(effect: Effect, driver: Driver): Promise<Answer> {
  switch (effect.kind) {
    case 'write':
      return write(effect.doc, driver);
    case 'look':
      return look(effect.id, driver);
    case 'abandon':
      return giveUp(driver, effect.children);
    case 'rest':
      await sleep(effect.ms, undefined, { signal: driver.life }).catch(() => undefined);
      return undefined;
  }
}

async function write(draft: NewDraft, driver: Driver): Promise<Stored> {
  const { store, log, once, life, patienceMs, mostBytes } = driver;
  const doc = await withBorrowed(draft, driver);
  if (life.aborted) return { kind: 'unknown', cause: 'the engine ends' };
  if (doc === undefined) {
    const cause = 'no copy that answers has the large result of another revision';
    once.tell('warn', draft._id, `Job ${draft._id} stays in conflict for now: ${cause}.`);
    return { kind: 'unknown', cause };
  }
  const asked = performance.now();
  const stored = await store.write(doc['_deleted'] === true ? doc : inReadingOrder(doc), mostBytes);
  const isLate = performance.now() - asked > patienceMs;
  const result: Stored =
    isLate && stored.kind === 'written'
      ? { kind: 'unknown', cause: 'the answer came late' }
      : stored;
  if (result.kind === 'unknown') {
    log.debug({ document: doc._id }, `Not known whether it was stored: ${result.cause}`);
  }
  if (result.kind === 'refused') {
    const what = `The database refuses a revision of document ${doc._id}`;
    once.tell('warn', doc._id, `${what}: ${result.reason}`);
  }
  if (result.kind === 'written') once.stored(doc._id);
  return result;
}

/**
 * The document with the attachments that it takes over from another revision. Undefined: one of them
 * cannot be read now, and what is not known to be lost is not left out.
 */
async function withBorrowed(
  doc: NewDraft,
  { store, retry, copies }: Driver,
): Promise<NewDraft | undefined> {
  const borrowed = borrowedIn(doc);
  if (borrowed.length === 0) return doc;
  const attachments: Record<string, unknown> = { ...(doc['_attachments'] as object) };
  for (const { name, from } of borrowed) {
    const of = { rev: from, copies: copies() };
    const text = await retry(async () => ({ is: await store.attachment(doc._id, name, of) }));
    if (text?.is === undefined) return undefined;
    const data = Buffer.from(text.is).toString('base64');
    attachments[name] = { content_type: 'application/json', data };
  }
  return { ...doc, _attachments: attachments };
}

/** A database that is always so slow is believed in the end. */
const mostLooks = 3;

/** The tips of the document, the winner first; undefined when the engine ends. */
async function look(id: string, driver: Driver): Promise<readonly Tip[] | undefined> {
  const { store, retry, copies, patienceMs } = driver;
  for (let tries = 1; ; tries += 1) {
    const asked = performance.now();
    const tips = await retry(async () => {
      if (copies() > 1) return winnerFirst(await store.tips(id, copies()));
      const doc = await store.get(id);
      return doc === undefined ? [] : [doc];
    });
    const isLate = performance.now() - asked > patienceMs;
    if (tips === undefined || !isLate || tries === mostLooks) return tips;
  }
}
