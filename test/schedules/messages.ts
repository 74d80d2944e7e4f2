import { command, receive, type Commanded } from '../../src/decide/requests/command.js';
import type { EffectAnswer } from '../../src/replicas/resolve/protocol.js';
import type { LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import type { Job } from '../../src/model/job.js';
import { parseDocument } from '../../src/reading/parse.js';
import type { JobRequest } from '../../src/model/request.js';
import type { Wish } from './process.js';

/** A request or a signal: a document of its own, which stays until an engine has dealt with it. */
export type Message = {
  readonly id: string;
  readonly job: string;
  /** Its action, or `signal`. */
  readonly asks: string;
  readonly apply: (job: Job, now: number) => Commanded;
};

/** A request to a job. */
export function request(
  id: string,
  asked: Omit<JobRequest, '_id' | 'type' | 'job'>,
  job = 'j',
): Message {
  const asking = { ...asked, _id: id, type: 'request', job } as JobRequest;
  return { id, job, asks: asking.action, apply: (of, now) => command(of, asking, now) };
}

/** A signal to a job. */
export function signal(id: string, name: string, to = 'j'): Message {
  const sent = { _id: id, type: 'signal', job: to, name } as const;
  return { id, job: to, asks: 'signal', apply: (job, now) => receive(job, sent, now) };
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
    if (this.#open.has(message.id)) return;
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

/** What `src/engine/control/requests.ts` does with a message; answers the job to be looked at next. */
export function* takeMessage(
  message: Message,
  mailbox: Mailbox,
  now: () => number,
): Generator<Wish, LeafRevision | undefined, EffectAnswer> {
  for (;;) {
    const [doc] = (yield { kind: 'get', id: message.job }) as readonly LeafRevision[];
    if (doc === undefined) return void mailbox.remove(message, 'refused');
    const parsed = parseDocument(doc);
    if (parsed.kind !== 'job' || !parsed.ok) return undefined;
    const commanded = message.apply(parsed.value, now());
    if (commanded.kind === 'repeated') mailbox.remove(message, 'applied');
    if (commanded.kind === 'refused') mailbox.remove(message, 'refused');
    if (commanded.kind !== 'applied') return undefined;
    const next = commanded.job as unknown as LeafRevision;
    const stored = (yield { kind: 'write', doc: next }) as { kind: string; rev?: string };
    if (stored.kind === 'written') {
      mailbox.remove(message, 'applied');
      return { ...next, _rev: String(stored.rev) };
    }
    if (stored.kind !== 'conflict') return undefined;
  }
}
