import type { LevelDown, Operation } from 'leveldown';
import merging from 'pouchdb-merge';

import { valuesAt, LAST, scanLevel, applyAll } from './level.js';
import type { PouchMetadata, RevTree } from './pouch.js';
import { leafRevisions, withoutLeaves } from './rev-tree.js';
import type { Session } from './session.js';
import type { DocumentStore, LeavesById, Purge } from './storage.js';

/*
 * PouchDB has no purge on LevelDB. It is done here in what PouchDB has written, whose stores begin so; all
 * of it is one batch, so that a crash leaves the state before or after it.
 */
const DOCS = '\u00ffdocument-store\u00ff';
const BODIES = '\u00ffby-sequence\u00ff';
const ATTACHMENTS = '\u00ffattach-store\u00ff';
const ATTACHED = '\u00ffattach-binary-store\u00ff';
const META = '\u00ffmeta-store\u00ff';
/** Ours: the purges by number. */
const PURGES = '\u00ffpurges\u00ff';
const PURGE_SEQ = '\u00ffpurge-seq\u00ff';

const UPDATE_SEQ = `${META}_local_last_update_seq`;
const DOC_COUNT = `${META}_local_doc_count`;

type Purging = Pick<DocumentStore, 'purge' | 'purgeSeq' | 'purges' | 'forgetPurges'>;

/** The purges of a store on PouchDB. `purged` is called after each: nothing else tells that documents are gone. */
export function purging(session: Session, purged: (taken: LeavesById) => void): Purging {
  const { read, use, level } = session;
  return {
    async purge(wanted) {
      let taken: LeavesById = new Map();
      try {
        await session.amend(async (files) => {
          const work = await purgeAll(files, wanted);
          if (work.operations.length > 0) await applyAll(files, work.operations);
          ({ taken } = work);
          return work.isCounted;
        });
      } finally {
        // They are gone also where PouchDB could not be opened again.
        purged(taken);
      }
      return taken;
    },
    purgeSeq: () => read(() => numberAt(level(), PURGE_SEQ)),
    purges: (since) =>
      read(async () => {
        const found: Purge[] = [];
        const range = { from: PURGES + padded(since + 1), to: PURGES + LAST };
        for await (const { value } of scanLevel(level(), range)) {
          found.push(JSON.parse(value) as Purge);
        }
        return found;
      }),
    forgetPurges: (upTo) =>
      use(async () => {
        const old: Operation[] = [];
        const range = { from: PURGES, to: PURGES + padded(upTo), keysOnly: true };
        for await (const { key } of scanLevel(level(), range)) old.push(drop(key));
        if (old.length > 0) await applyAll(level(), old);
      }),
  };
}

/** What PouchDB counts, and the purges. */
type Counts = { purges: number; updates: number; documents: number };

/** The changes of one purge, before they are made. */
type Draft = {
  readonly level: LevelDown;
  readonly counts: Counts;
  readonly operations: Operation[];
  readonly uses: ReturnType<typeof createUses>;
};

type Work = {
  readonly operations: readonly Operation[];
  readonly taken: LeavesById;
  /** Whether figures that PouchDB keeps in memory are others now. */
  readonly isCounted: boolean;
};

async function purgeAll(level: LevelDown, wanted: LeavesById): Promise<Work> {
  const before: Counts = {
    purges: await numberAt(level, PURGE_SEQ),
    updates: await numberAt(level, UPDATE_SEQ),
    documents: await numberAt(level, DOC_COUNT),
  };
  const counts = { ...before };
  const draft: Draft = { level, counts, operations: [], uses: createUses(level) };
  const taken = new Map<string, readonly string[]>();
  for (const [id, revs] of wanted) taken.set(id, await purgeOne(draft, id, revs));
  const places = [
    [PURGE_SEQ, 'purges'],
    [UPDATE_SEQ, 'updates'],
    [DOC_COUNT, 'documents'],
  ] as const;
  const counted = places.filter(([, name]) => counts[name] !== before[name]);
  const figures = counted.map(([key, name]) => put(key, counts[name]));
  return {
    operations: [...draft.operations, ...draft.uses.operations(), ...figures],
    taken,
    isCounted: counted.some(([, name]) => name !== 'purges'),
  };
}

type Metadata = PouchMetadata & { readonly rev_map: Readonly<Record<string, number>> };

/** Resolves with the leaves that the document had. */
async function purgeOne(
  { level, counts, operations, uses }: Draft,
  id: string,
  asked: readonly string[],
): Promise<readonly string[]> {
  const [text] = await valuesAt(level, [DOCS + id]);
  if (text === undefined) return [];
  const metadata = JSON.parse(text) as Metadata;
  const leaves = new Set(leafRevisions(metadata.rev_tree).map(({ rev }) => rev));
  const revs = [...new Set(asked)].filter((rev) => leaves.has(rev));
  if (revs.length === 0) return [];
  for (const rev of revs) {
    const key = bodyKey(metadata, rev);
    await uses.end(id, rev, key);
    operations.push(drop(key));
  }
  counts.purges += 1;
  operations.push(put(PURGES + padded(counts.purges), { seq: counts.purges, id, revs }));
  const tree = withoutLeaves(metadata.rev_tree, new Set(revs));
  const winner = tree.length === 0 ? undefined : winnerOf(tree);
  counts.documents += Number(winner?.deleted === false) - Number(!metadata.deleted);
  if (winner === undefined) {
    operations.push(drop(DOCS + id));
    return revs;
  }
  // What is left is the newest change: feeds show it again.
  counts.updates += 1;
  const { updates: seq } = counts;
  const from = bodyKey(metadata, winner.rev);
  const [body = '{}'] = await valuesAt(level, [from]);
  const others = Object.entries(metadata.rev_map).filter(([rev]) => !revs.includes(rev));
  operations.push(
    drop(from),
    { type: 'put', key: BODIES + padded(seq), value: body },
    put(DOCS + id, {
      ...metadata,
      ...{ seq, rev_tree: tree, winningRev: winner.rev, deleted: winner.deleted },
      rev_map: { ...Object.fromEntries(others), [winner.rev]: seq },
    }),
  );
  return revs;
}

const padded = (n: number): string => String(n).padStart(16, '0');
const bodyKey = (metadata: Metadata, rev: string): string =>
  BODIES + padded(Number(metadata.rev_map[rev]));
const put = (key: string, value: unknown): Operation => {
  return { type: 'put', key, value: JSON.stringify(value) };
};
const drop = (key: string): Operation => ({ type: 'del', key });

function winnerOf(tree: RevTree): { readonly rev: string; readonly deleted: boolean } {
  const rev = merging.winningRev({ rev_tree: tree as Parameters<typeof merging.rootToLeaf>[0] });
  const leaf = leafRevisions(tree).find((one) => one.rev === rev);
  return { rev, deleted: leaf?.deleted === true };
}

/** Which revisions use an attachment, by its digest; one that no revision uses any more goes. */
function createUses(level: LevelDown) {
  const changed = new Map<string, Record<string, true>>();
  return {
    /** The revision whose body is at a key goes. */
    async end(id: string, rev: string, key: string): Promise<void> {
      const [body = '{}'] = await valuesAt(level, [key]);
      const { _attachments: stubs = {} } = JSON.parse(body) as {
        _attachments?: Record<string, { digest: string }>;
      };
      for (const { digest } of Object.values(stubs)) {
        const [stored = '{}'] = await valuesAt(level, [ATTACHMENTS + digest]);
        const refs =
          changed.get(digest) ?? (JSON.parse(stored) as { refs?: Record<string, true> }).refs ?? {};
        const { [`${id}@${rev}`]: _ended, ...left } = refs;
        changed.set(digest, left);
      }
    },
    operations: (): readonly Operation[] =>
      [...changed].flatMap(([digest, refs]): Operation[] => {
        const key = ATTACHMENTS + digest;
        const isUsed = Object.keys(refs).length > 0;
        return isUsed ? [put(key, { refs })] : [drop(key), drop(ATTACHED + digest)];
      }),
  };
}

async function numberAt(level: LevelDown, key: string): Promise<number> {
  const [text] = await valuesAt(level, [key]);
  return text === undefined ? 0 : Number(JSON.parse(text));
}
