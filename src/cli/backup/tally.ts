import { isEndedJob } from '../../client.js';
import type { BackedUp, Expected } from '../../client-rules.js';
import { isObject } from '../../model/object.js';

type Leaf = Expected & { readonly isDeleted: boolean; readonly isLiveJob: boolean };

/** Counts what a backup holds, revision by revision. */
export type Tally = {
  readonly add: (doc: BackedUp) => void;
  /** The current revisions of all documents that are there in the end. */
  readonly current: () => ReadonlyMap<string, Expected>;
  /** Jobs that have not ended. */
  readonly liveJobs: () => number;
};

/** Follows revisions as a database does: a later one takes the place of those that it comes after. */
export function createTally(): Tally {
  const leaves = new Map<string, readonly Leaf[]>();
  const winners = (): readonly (readonly [string, Leaf])[] =>
    [...leaves].flatMap(([id, all]) => {
      const [first] = all.toSorted(byPrecedence);
      return first === undefined || first.isDeleted ? [] : [[id, first] as const];
    });
  return {
    add: (doc) => {
      const before = new Set(ancestorsOf(doc));
      const others = (leaves.get(doc._id) ?? []).filter(
        ({ rev }) => rev !== doc._rev && !before.has(rev),
      );
      leaves.set(doc._id, [...others, leafOf(doc)]);
    },
    current: () => new Map(winners()),
    liveJobs: () => winners().filter(([, { isLiveJob }]) => isLiveJob).length,
  };
}

function leafOf(doc: BackedUp): Leaf {
  const { _rev: rev, _deleted: deleted, _attachments: files, type } = doc;
  const lengths = Object.entries(isObject(files) ? files : {}).flatMap(([name, file]) => {
    const { data } = file as { readonly data?: unknown };
    return typeof data === 'string' ? [[name, Buffer.byteLength(data, 'base64')] as const] : [];
  });
  const isDeleted = deleted === true;
  return {
    rev,
    lengths: new Map(lengths),
    isDeleted,
    isLiveJob: type === 'job' && !isEndedJob(doc),
  };
}

function ancestorsOf({ _revisions: revisions }: BackedUp): readonly string[] {
  if (!isObject(revisions) || !Array.isArray(revisions['ids'])) return [];
  const start = Number(revisions['start']);
  return (revisions['ids'] as readonly unknown[]).map((id, i) => `${start - i}-${String(id)}`);
}

/** Which of several leaves a database shows: one that is there, of the longest history, of the greatest name. */
function byPrecedence(one: Leaf, other: Leaf): number {
  if (one.isDeleted !== other.isDeleted) return one.isDeleted ? 1 : -1;
  const length = Number.parseInt(other.rev, 10) - Number.parseInt(one.rev, 10);
  return length !== 0 ? length : one.rev < other.rev ? 1 : -1;
}
