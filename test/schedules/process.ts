import type { GivenUp } from '../../src/decide/intent.js';
import type { EffectAnswer, Effect } from '../../src/replicas/resolve/protocol.js';
import type { Documents } from './documents.js';
import type { Life } from './life.js';
import type { Timeline } from './timeline.js';

/** What a process needs of its surroundings. */
export type ProcessParts = {
  readonly id: string;
  /** The node that it talks to and whose feed it follows. */
  readonly node: number;
  /** That of the engine: it dies and stands still as a whole. */
  readonly life: Life;
  readonly documents: Documents;
  /** Gives up jobs that nobody waits for. */
  readonly abandon: (children: readonly GivenUp[]) => Task;
  readonly timeline: Timeline;
  /** Told what it does, for traces only. */
  readonly said: (who: string, what: () => string) => void;
};

/** What a task asks for: what protocols ask for, a document as CouchDB shows it, and a view of locks. */
export type Wish =
  Effect | { readonly kind: 'get'; readonly id: string } | { readonly kind: 'list_locks' };
export type Task = Generator<Wish, void, EffectAnswer>;

/** Half a lease, as in the engine: an answer that took longer says nothing about now. */
const patienceMs = 7_500;

/**
 * What an engine does about one job: one task after the other. The engine may stand still or die at
 * any moment between a wish and its answer.
 */
export class Process {
  readonly #parts: ProcessParts;
  readonly #queue: Task[] = [];
  #isBusy = false;

  constructor(parts: ProcessParts) {
    this.#parts = parts;
  }

  get isIdle(): boolean {
    return !this.#isBusy;
  }

  /** Something comes from outside. */
  receive(happen: () => void): void {
    this.#parts.life.receive(happen);
  }

  /** Does a task after those that wait already. */
  queue(task: Task): void {
    this.#queue.push(task);
    if (!this.#isBusy) this.#nextTask();
  }

  #nextTask(): void {
    const task = this.#queue.shift();
    this.#isBusy = task !== undefined;
    if (task !== undefined) this.#drive(task, undefined);
  }

  #drive(task: Task, answer: EffectAnswer, over = (): void => this.#nextTask()): void {
    const { done, value } = task.next(answer);
    if (done === true) over();
    else this.#perform(value, (next) => this.#drive(task, next, over));
  }

  #perform(wish: Wish, go: (answer: EffectAnswer) => void): void {
    const { id, node, documents, timeline, said } = this.#parts;
    const asked = timeline.now;
    const isLate = (): boolean => timeline.now - asked > patienceMs;
    switch (wish.kind) {
      case 'write':
        said(
          id,
          () => `writes ${wish.doc._id} upon ${wish.doc._rev ?? 'nothing'}: ${summary(wish.doc)}`,
        );
        return documents.of(wish.doc._id).write(node, wish.doc, (stored) =>
          this.receive(() => {
            said(id, () => `is told ${Object.values(stored).join(' ')}`);
            go(stored.kind === 'written' && isLate() ? { kind: 'unknown', cause: 'late' } : stored);
          }),
        );
      case 'look':
        return documents.of(wish.id).look(node, (leaves) =>
          this.receive(() => {
            said(
              id,
              () => `looks at ${wish.id} and sees ${leaves.map(({ _rev }) => _rev).join(' and ')}`,
            );
            if (isLate()) this.#perform(wish, go);
            else go(leaves);
          }),
        );
      case 'rest':
        return timeline.after(wish.ms, () => this.receive(() => go(undefined)));
      case 'abandon':
        return this.#drive(this.#parts.abandon(wish.children), undefined, () => go(undefined));
      case 'list_locks':
        return documents.listLocks(node, (leaves) => this.receive(() => go(leaves)));
      case 'get':
        return documents.of(wish.id).get(node, (leaves) => this.receive(() => go(leaves)));
    }
  }
}

/** A job or a lock in a few words. */
function summary(doc: Readonly<Record<string, unknown>>): string {
  if (doc['_deleted'] === true) return 'deletes it';
  if (doc['type'] === 'lock') return `for ${String(doc['job'])}`;
  const steps = (doc['steps'] ?? []) as readonly Readonly<Record<string, unknown>>[];
  const entries = steps.map(({ path, attempt, state, claim, failure, start }) => {
    const why = failure === undefined ? '' : ` ${(failure as { name: string }).name}`;
    return `${String(path)}#${String(attempt)} ${String(state)} ${String(claim ?? start)}${why}`;
  });
  return `${String(doc['state'])} of ${String(doc['start'])} [${entries.join(', ')}]`;
}
