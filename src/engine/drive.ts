import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Effect, Protocol, Stored } from '../decide/copies/protocol.js';
import { winnerFirst, type Tip } from '../decide/copies/tips.js';
import { inReadingOrder } from '../model/reading-order.js';
import type { Store } from '../store/store.js';
import type { Log } from './log.js';
import type { Retry } from './patience.js';

/** What a protocol is driven with. */
export type Driver = {
  readonly store: Pick<Store, 'write' | 'get' | 'tips'>;
  readonly retry: Retry;
  readonly log: Log;
  /** Aborted: nothing is written any more. */
  readonly life: AbortSignal;
  /** Copies that the database keeps of every document. */
  readonly copies: () => number;
  /**
   * An answer that took longer (ms) says nothing about now: the process may have stood still, and
   * others may have taken it for dead meanwhile.
   */
  readonly patienceMs: number;
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
    case 'rest':
      await sleep(effect.ms, undefined, { signal: driver.life }).catch(() => undefined);
      return undefined;
  }
}

async function write(doc: Tip, { store, log, life, patienceMs }: Driver): Promise<Stored> {
  if (life.aborted) return { kind: 'unknown', cause: 'the engine ends' };
  const asked = performance.now();
  const stored = await store.write(doc['_deleted'] === true ? doc : inReadingOrder(doc));
  const isLate = performance.now() - asked > patienceMs;
  const result: Stored =
    isLate && stored.kind === 'written'
      ? { kind: 'unknown', cause: 'the answer came late' }
      : stored;
  if (result.kind === 'unknown') {
    log.debug({ job: doc._id }, `Not known whether the job was stored: ${result.cause}`);
  }
  return result;
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
