import type { Made } from '../../decide/schedules/schedule-world.js';
import { withJoiners, type Joiner } from '../../decide/triggers/gathered-events.js';
import type { Joining } from '../../model/gathering.js';
import type { StoredDocument } from '../../model/document.js';
import type { FollowParts } from '../loop/followed-parts.js';
import { resolveLeaves, unclear, writeFollowed } from '../loop/write-followed.js';

/** What became of an event that a gathering was to take; `full`: it takes none now. */
export type JoinResult = Made | { readonly kind: 'full' };

/** Has a gathering take an event; `at`: when that was decided (epoch ms). */
export type JoinGathering = (event: string, at: number, joining: Joining) => Promise<JoinResult>;

type Waiting = Joiner & { readonly resolve: (result: JoinResult) => void };

/** Number of times that a write is tried anew after another engine was faster. */
const mostTries = 20;

const full = { kind: 'full' } as const;

/**
 * The door to gatherings: events that come together are taken by one write. `onStored` is given each new
 * revision.
 */
export function createJoin(
  parts: FollowParts,
  onStored: (doc: StoredDocument) => void,
): JoinGathering {
  const waiting = new Map<string, Waiting[]>();
  const takeAll = async (into: string): Promise<void> => {
    const joiners = waiting.get(into) ?? [];
    waiting.delete(into);
    let result: JoinResult = full;
    try {
      if (joiners.length > 0) result = await takeTogether(parts, { into, joiners, onStored });
    } finally {
      for (const { resolve } of joiners) resolve(result);
    }
  };
  return (id, at, joining) =>
    new Promise((resolve) => {
      const { into } = joining;
      const one = { id, at, joining, resolve };
      const others = waiting.get(into);
      if (others !== undefined) others.push(one);
      else waiting.set(into, [one]);
      void parts.serializer.queue(into, () => takeAll(into));
    });
}

type Together = {
  readonly into: string;
  readonly joiners: readonly Joiner[];
  readonly onStored: (doc: StoredDocument) => void;
};

async function takeTogether(
  parts: FollowParts,
  { into, joiners, onStored }: Together,
): Promise<JoinResult> {
  const { life } = parts;
  for (let tries = 0; tries < mostTries; tries += 1) {
    const doc = await currentOf(parts, into);
    if (life.signal.aborted || doc === unclear) return full;
    const next = withJoiners(into, doc, joiners);
    switch (next.kind) {
      case 'there':
        return { kind: 'made' };
      case 'full':
        return full;
      case 'foreign':
        return { kind: 'refused', reason: `Document ${into} is not what engines store there.` };
      case 'write': {
        const written = await writeFollowed(parts, next.doc);
        if (written.kind === 'refused') return written;
        if (written.kind === 'lost') continue;
        onStored(written.doc);
        return { kind: 'made' };
      }
    }
  }
  return full;
}

/** Reads a document; of one with several copies the only revision, or `unclear`. */
export async function currentOf(
  parts: FollowParts,
  id: string,
): Promise<StoredDocument | typeof unclear | undefined> {
  const { store, retry, replicas } = parts;
  return replicas.many ? await resolveLeaves(parts, id) : await retry(() => store.get(id));
}
