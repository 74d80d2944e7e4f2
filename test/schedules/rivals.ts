import type { LeafRevision } from '../../src/replicas/resolve/leaf-revisions.js';
import { canonical } from '../../src/model/canonical.js';
import type { Beliefs } from './beliefs.js';
import { between } from '../chaos/chance.js';
import type { Start } from './judge.js';

/** A job as it is submitted. */
export type Submitted = Readonly<Record<string, unknown>> & { readonly _id: string };

const target = 'disk';
const locks = 'disk.*';
/** A job keeps others with the same target and parameters away, or whatever its pattern matches. */
const wants = [
  { target },
  { target, locks },
  { target, locks, params: { other: 1 } },
  { target, params: { other: 1 } },
  { locks },
];

/** What the job of a schedule locks, and up to three jobs beside it that want the same or nearly so. */
export function drawRivals(chance: () => number): {
  readonly own: Readonly<Record<string, unknown>>;
  readonly others: readonly Submitted[];
} {
  if (chance() < 0.7) return { own: {}, others: [] };
  const others = Array.from({ length: between(0, 3, chance) }, (_, i) => ({
    ...{ _id: `k${i}`, type: 'job', flow: 'k', owner: 'DEFAULT' },
    ...wants[Math.floor(chance() ** 2 * wants.length)],
  }));
  return { own: chance() < 0.4 ? { target } : { target, locks }, others };
}

/**
 * Whether two jobs never run at the same time: they want the same lock, or each has a target that the
 * pattern of the other matches. A pattern alone lets run what has begun before it was stored.
 */
function excludes(one: Submitted, other: Submitted): boolean {
  if (one['target'] === undefined || other['target'] === undefined) return false;
  const isSame = canonical(one['params'] ?? {}) === canonical(other['params'] ?? {});
  return isSame || (one['locks'] !== undefined && other['locks'] !== undefined);
}

export type Rivalry = {
  readonly submitted: readonly Submitted[];
  readonly starts: readonly Start[];
  /** When the plugin of an attempt returned, by claim. */
  readonly returned: ReadonlyMap<string, number>;
  /** The leaves of every job in the end, by id. */
  readonly leaves: ReadonlyMap<string, readonly LeafRevision[]>;
  readonly beliefs: Beliefs;
};

/** Steps of jobs that exclude each other and ran at the same time, without a reason to. */
export function together({ submitted, starts, returned, leaves, beliefs }: Rivalry) {
  const jobs = new Map(submitted.map((job) => [job._id, job]));
  const ofFirst = starts.map((start) => ({
    ...start,
    first: jobs.get(firstOf(start.job, leaves)),
  }));
  return ofFirst.flatMap((start, i) =>
    ofFirst.slice(0, i).flatMap((before): readonly string[] => {
      const { first: one } = before;
      const { first: other, at } = start;
      if (one === undefined || other === undefined || one === other) return [];
      if (!excludes(one, other) || (returned.get(before.step.claim) ?? Infinity) <= at) return [];
      const isExplained = [before, start].some(({ engine }) => beliefs.wasDoubted(engine, at));
      return isExplained
        ? []
        : [
            `${start.step.claim} of ${other._id} is started while ${before.step.claim} of ${one._id} runs.`,
          ];
    }),
  );
}

/** The job that goes on as this one, the first of them. */
function firstOf(job: LeafRevision, leaves: Rivalry['leaves']): string {
  const from = job['continued_from'];
  const [before] = typeof from === 'string' ? (leaves.get(from) ?? []) : [];
  return before === undefined ? job._id : firstOf(before, leaves);
}

/** Of jobs that keep each other away one is let in: that all were refused is a lock that nobody had. */
export function allRefused({ submitted, leaves }: Pick<Rivalry, 'submitted' | 'leaves'>) {
  const isRefused = ({ _id }: Submitted): boolean => {
    const [leaf] = leaves.get(_id) ?? [];
    const { name } = (leaf?.['failure'] ?? {}) as { readonly name?: unknown };
    return name === 'TargetTaken' || name === 'TargetLocked';
  };
  return submitted.length > 0 && submitted.every(isRefused)
    ? ['all jobs were refused what they lock']
    : [];
}
