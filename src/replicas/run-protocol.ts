import { setTimeout as sleep } from 'node:timers/promises';
import type { EffectAnswer, Effect, Protocol, WriteAnswer } from './resolve/protocol.js';
import {
  borrowedIn,
  winnerFirst,
  type NewDraft,
  type LeafRevision,
} from './resolve/leaf-revisions.js';
import { inReadingOrder } from '../model/reading-order.js';
import type { Untold } from '../decide/finish/abandoned.js';
import type { GivenUp } from '../decide/intent.js';
import type { Store } from '../store/store.js';

/** What a protocol is run with. */
export type ProtocolPorts = {
  readonly store: Pick<Store, 'write' | 'get' | 'leaves' | 'attachment'>;
  /** Asks the store until it answers; undefined only when the engine ends first. */
  readonly retry: <T>(ask: () => Promise<T>) => Promise<T | undefined>;
  readonly log: { readonly debug: LogLine; readonly info: LogLine };
  /** Logs each message about a document once until the document is stored. */
  readonly once: {
    readonly log: (level: 'warn', id: string, message: string) => void;
    readonly stored: (id: string) => void;
  };
  /** Asks child jobs to cancel; resolves to those that cannot be asked. */
  readonly giveUp: (children: readonly GivenUp[]) => Promise<readonly Untold[]>;
  /** Aborted: nothing is written any more. */
  readonly life: AbortSignal;
  /** Copies that the database keeps of every document. */
  readonly copies: () => number;
  /**
   * An answer that took longer (ms) says nothing about now: the process may have stood still, and
   * others may have taken it for dead meanwhile.
   */
  readonly patienceMs: number;
  /** Whether such an answer counts all the same; left out: it does not. */
  readonly mayBeLate?: () => boolean;
  /** A longer document is refused, bytes. */
  readonly mostBytes?: number;
};

type LogLine = (about: Readonly<Record<string, unknown>>, message: string) => void;

/** Performs the effects of a protocol one after the other; resolves to its result. */
export async function runProtocol<T>(protocol: Protocol<T>, ports: ProtocolPorts): Promise<T> {
  let step = protocol.next();
  while (step.done !== true) step = protocol.next(await perform(step.value, ports));
  return step.value;
}

async function perform(effect: Effect, ports: ProtocolPorts): Promise<EffectAnswer> {
  switch (effect.kind) {
    case 'write':
      return write(effect.doc, ports);
    case 'look':
      return look(effect.id, ports);
    case 'abandon':
      return ports.giveUp(effect.children);
    case 'rest':
      await sleep(effect.ms, undefined, { signal: ports.life }).catch(() => undefined);
      return undefined;
  }
}

async function write(draft: NewDraft, ports: ProtocolPorts): Promise<WriteAnswer> {
  const { store, log, once, life, patienceMs, mayBeLate, mostBytes } = ports;
  const doc = draft['_attachments'] === undefined ? draft : await withBorrowed(draft, ports);
  if (life.aborted) return { kind: 'unknown', cause: 'the engine ends' };
  if (doc === undefined) {
    const cause = 'no copy that answers has the large result of another revision';
    once.log('warn', draft._id, `Job ${draft._id} stays in conflict for now: ${cause}.`);
    return { kind: 'unknown', cause };
  }
  const asked = performance.now();
  const stored = await store.write(doc['_deleted'] === true ? doc : inReadingOrder(doc), mostBytes);
  const isLate = performance.now() - asked > patienceMs && mayBeLate?.() !== true;
  const result: WriteAnswer =
    isLate && stored.kind === 'written'
      ? { kind: 'unknown', cause: 'the answer came late' }
      : stored;
  if (result.kind === 'unknown') {
    log.debug({ document: doc._id }, `Not known whether it was stored: ${result.cause}`);
  }
  if (result.kind === 'refused') {
    const what = `The database refuses a revision of document ${doc._id}`;
    once.log('warn', doc._id, `${what}: ${result.reason}`);
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
  { store, retry, copies }: ProtocolPorts,
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

/** The leaves of the document, the winner first; undefined when the engine ends. */
async function look(
  id: string,
  ports: ProtocolPorts,
): Promise<readonly LeafRevision[] | undefined> {
  const { store, retry, copies, patienceMs, mayBeLate } = ports;
  for (let tries = 1; ; tries += 1) {
    const asked = performance.now();
    const leaves = await retry(async () => {
      if (copies() > 1) return winnerFirst(await store.leaves(id, copies()));
      const doc = await store.get(id);
      return doc === undefined ? [] : [doc];
    });
    const isLate = performance.now() - asked > patienceMs && mayBeLate?.() !== true;
    if (leaves === undefined || !isLate || tries === mostLooks) return leaves;
  }
}
