import type { Answer, Effect } from '../../src/decide/copies/protocol.js';
import type { Cluster } from './cluster.js';
import type { Timeline } from './timeline.js';

/** What a process needs of its surroundings. */
export type ProcessParts = {
  readonly id: string;
  /** The node that it talks to and whose feed it follows. */
  readonly node: number;
  readonly cluster: Cluster;
  readonly timeline: Timeline;
  /** Told what it does, for traces only. */
  readonly said: (who: string, what: () => string) => void;
};

/** What a task asks for: what protocols ask for, and the job as CouchDB shows it. */
export type Wish = Effect | { readonly kind: 'get' };
export type Task = Generator<Wish, void, Answer>;

/** Half a lease, as in the engine: an answer that took longer says nothing about now. */
const patienceMs = 7_500;

/**
 * One process of an engine: it does one task after the other, and may stand still or die at any
 * moment between a wish and its answer.
 */
export class Process {
  readonly #parts: ProcessParts;
  readonly #queue: Task[] = [];
  #isBusy = false;
  #life: 'running' | 'paused' | 'dead' = 'running';
  #inbox: (() => void)[] = [];

  constructor(parts: ProcessParts) {
    this.#parts = parts;
  }

  get isAlive(): boolean {
    return this.#life !== 'dead';
  }

  get isIdle(): boolean {
    return !this.#isBusy && this.#inbox.length === 0;
  }

  /** It is killed: nothing that it waits for comes to anything. */
  die(): void {
    this.#life = 'dead';
    this.#inbox = [];
  }

  /** It stands still for a while; what comes meanwhile waits for it. */
  pause(ms: number): void {
    if (this.#life !== 'running') return;
    this.#life = 'paused';
    this.#parts.timeline.after(ms, () => {
      if (this.#life !== 'paused') return;
      this.#life = 'running';
      for (const happen of this.#inbox.splice(0)) happen();
    });
  }

  /** Something comes from outside. */
  receive(happen: () => void): void {
    if (this.#life === 'running') happen();
    else if (this.#life === 'paused') this.#inbox.push(happen);
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

  #drive(task: Task, answer: Answer): void {
    const { done, value } = task.next(answer);
    if (done === true) this.#nextTask();
    else this.#perform(value, (next) => this.#drive(task, next));
  }

  #perform(wish: Wish, go: (answer: Answer) => void): void {
    const { id, node, cluster, timeline, said } = this.#parts;
    const asked = timeline.now;
    const isLate = (): boolean => timeline.now - asked > patienceMs;
    switch (wish.kind) {
      case 'write':
        said(id, () => `writes upon ${wish.doc._rev}: ${summary(wish.doc)}`);
        return cluster.write(node, wish.doc, (stored) =>
          this.receive(() => {
            said(id, () => `is told ${Object.values(stored).join(' ')}`);
            go(stored.kind === 'written' && isLate() ? { kind: 'unknown', cause: 'late' } : stored);
          }),
        );
      case 'look':
        return cluster.look(node, (tips) =>
          this.receive(() => {
            said(id, () => `looks and sees ${tips.map(({ _rev }) => _rev).join(' and ')}`);
            if (isLate()) this.#perform(wish, go);
            else go(tips);
          }),
        );
      case 'rest':
        return timeline.after(wish.ms, () => this.receive(() => go(undefined)));
      case 'get':
        return cluster.get(node, (tips) => this.receive(() => go(tips)));
    }
  }
}

/** A job in a few words. */
function summary(doc: Readonly<Record<string, unknown>>): string {
  if (doc['_deleted'] === true) return 'deletes it';
  const steps = (doc['steps'] ?? []) as readonly Readonly<Record<string, unknown>>[];
  const entries = steps.map(({ path, attempt, state, claim, failure }) => {
    const why = failure === undefined ? '' : ` ${(failure as { name: string }).name}`;
    return `${String(path)}#${String(attempt)} ${String(state)} ${String(claim)}${why}`;
  });
  return `${String(doc['state'])} [${entries.join(', ')}]`;
}
