import { isFinalState } from '../../../src/model/job.js';

/** What a kind puts into the database; jobs are of the owner `hostile` unless they say otherwise. */
export type Written = Readonly<Record<string, unknown>>;

/** A document as somebody could store it. */
export type HostileDocument = Written & { readonly _id: string };

/**
 * What becomes of a job: `refused`: the database does not take it; a number: it ends with this exit;
 * `told`: it goes on, or ends with exit 0, and says in `problems`, `requests` or `retry_refused` what is
 * wrong with it. 0: it does no harm, and nothing is wrong with it.
 */
export type Outcome = number | 'told' | 'refused';

/** What must become of the jobs of a kind; one of several where its variants differ. */
export type Fate = Outcome | readonly Outcome[];

/** What has become of a job by now; undefined: nothing that is said anywhere. */
export function outcomeOf(job: Readonly<Record<string, unknown>>): Outcome | undefined {
  const { exit } = job;
  // Its end was there before.
  if (typeof job['retry_refused'] === 'string') return 'told';
  if (isFinalState(job['state']) && typeof exit === 'number' && exit !== 0) return exit;
  if (isTold(job)) return 'told';
  return isFinalState(job['state']) && exit === 0 ? 0 : undefined;
}

function isTold(job: Readonly<Record<string, unknown>>): boolean {
  return ['problems', 'requests', 'retry_refused'].some((key) => {
    const told = job[key];
    return typeof told === 'string' || (Array.isArray(told) && told.length > 0);
  });
}

/** A way of doing harm: the `n`-th variant of it, and what must come of it. */
export type Kind = {
  readonly name: string;
  readonly make: (n: number, id: string) => readonly Written[];
  readonly fate: Fate;
  /** It keeps engines or threads busy: one of it among others is enough. */
  readonly isSlow?: boolean;
};

/** A row of the tables of kinds. */
export function kind(name: string, fate: Fate, make: Kind['make']): Kind {
  return { name, fate, make };
}

/** A kind that takes a while, or is ended by a deadline of the processor. */
export function slow(kind: Kind): Kind {
  return { ...kind, isSlow: true };
}

/** A job of the owner `hostile`. */
export function job(more: object): Written {
  return { type: 'job', owner: 'hostile', ...more };
}

/** A flow of the owner `hostile`; it runs `noop` unless it says otherwise. */
export function flow(name: string, more: object): Written {
  return { type: 'flow', owner: 'hostile', name, tasks: ['noop'], ...more };
}

/** A list of `length` values. */
export function list<T>(length: number, make: (i: number) => T): readonly T[] {
  return Array.from({ length }, (_, i) => make(i));
}

/** An object of `length` keys. */
export function record<T>(length: number, make: (i: number) => readonly [string, T]) {
  return Object.fromEntries(list(length, make));
}

/** Wraps a value `depth` times. */
export function nested(depth: number, inner: unknown, wrap: (value: unknown) => unknown): unknown {
  return Array.from({ length: depth }).reduce<unknown>((value) => wrap(value), inner);
}

/** One of several, by the number of the variant. */
export function one<T>(n: number, ...all: readonly [T, ...T[]]): T {
  return all[n % all.length] as T;
}
