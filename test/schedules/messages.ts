import { command, receive, type Commanded } from '../../src/decide/command.js';
import type { Answer } from '../../src/decide/copies/protocol.js';
import type { Tip } from '../../src/decide/copies/tips.js';
import type { Job } from '../../src/model/job.js';
import { parseDocument } from '../../src/model/parse.js';
import type { JobRequest } from '../../src/model/request.js';
import type { Wish } from './process.js';

/** A request or a signal: a document of its own, which stays until an engine has dealt with it. */
export type Message = {
  readonly id: string;
  /** Its action, or `signal`. */
  readonly asks: string;
  readonly apply: (job: Job, now: number) => Commanded;
};

/** A request to the job. */
export function request(id: string, asked: Omit<JobRequest, '_id' | 'type' | 'job'>): Message {
  const asking = { ...asked, _id: id, type: 'request', job: 'j' } as JobRequest;
  return { id, asks: asking.action, apply: (job, now) => command(job, asking, now) };
}

/** A signal to the job. */
export function signal(id: string, name: string): Message {
  const sent = { _id: id, type: 'signal', job: 'j', name } as const;
  return { id, asks: 'signal', apply: (job, now) => receive(job, sent, now) };
}

/** The messages of a schedule; their own documents are never in conflict. */
export class Mailbox {
  readonly #open = new Map<string, { readonly message: Message; readonly refused: () => void }>();
  readonly #onPost: (message: Message) => void;
  /** Those that an engine has applied and removed. */
  readonly applied: Message[] = [];

  constructor(onPost: (message: Message) => void) {
    this.#onPost = onPost;
  }

  get open(): readonly Message[] {
    return [...this.#open.values()].map(({ message }) => message);
  }

  /** Stores a message; whoever sent it is told when it changed nothing. */
  post(message: Message, refused: () => void = () => undefined): void {
    this.#open.set(message.id, { message, refused });
    this.#onPost(message);
  }

  /** An engine removes a message that it has dealt with. */
  remove({ id }: Message, verdict: 'applied' | 'refused'): void {
    const entry = this.#open.get(id);
    if (!this.#open.delete(id) || entry === undefined) return;
    if (verdict === 'applied') this.applied.push(entry.message);
    if (verdict === 'refused') entry.refused();
  }
}

/** What `src/engine/requests.ts` does with a message; answers the job to be looked at next. */
export function* takeMessage(
  message: Message,
  mailbox: Mailbox,
  now: () => number,
): Generator<Wish, Tip | undefined, Answer> {
  for (;;) {
    const [doc] = (yield { kind: 'get' }) as readonly Tip[];
    const parsed = doc && parseDocument(doc);
    if (parsed?.kind !== 'job' || !parsed.ok) return undefined;
    const commanded = message.apply(parsed.value, now());
    if (commanded.kind === 'repeated') mailbox.remove(message, 'applied');
    if (commanded.kind === 'refused') mailbox.remove(message, 'refused');
    if (commanded.kind !== 'applied') return undefined;
    const next = commanded.job as unknown as Tip;
    const stored = (yield { kind: 'write', doc: next }) as { kind: string; rev?: string };
    if (stored.kind === 'written') {
      mailbox.remove(message, 'applied');
      return { ...next, _rev: String(stored.rev) };
    }
    if (stored.kind !== 'conflict') return undefined;
  }
}
