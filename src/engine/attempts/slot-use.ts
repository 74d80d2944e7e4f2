import { LRUCache } from 'lru-cache';
import { withTaken, type Party, type SlotUse } from '../../decide/compete/fair-share.js';

/** Who has the slots of this engine, and who had them before. */
export type SlotUses = {
  /** A claim takes a slot for somebody. */
  readonly take: (claim: string, party: Party) => void;
  readonly leave: (claim: string) => void;
  /** An attempt begins in a slot. */
  readonly began: (party: Party) => void;
  /** Who has how many; claims that are `over` do not count. */
  readonly now: (isOver: (claim: string) => boolean) => SlotUse;
};

/** Maximum number of owners, and of roots, whose use of slots is remembered. */
const remembered = 20_000;

type Past = LRUCache<string, { readonly had: number; readonly last: number }>;

/** @param count gives the next number of the engine's count */
export function createSlotUses(count: () => number): SlotUses {
  const partyOf = new Map<string, Party>();
  const owners: Past = new LRUCache({ max: remembered });
  const roots: Past = new LRUCache({ max: remembered });
  const past = {
    had: (root: string) => roots.get(root)?.had ?? 0,
    lastOfOwner: (owner: string) => owners.get(owner)?.last ?? 0,
    lastOfRoot: (root: string) => roots.get(root)?.last ?? 0,
  };
  return {
    take: (claim, party) => void partyOf.set(claim, party),
    leave: (claim) => void partyOf.delete(claim),
    began: ({ owner, root }) => {
      const last = count();
      note(owners, owner, last);
      note(roots, root, last);
    },
    now: (isOver) => {
      const taking = [...partyOf].filter(([claim]) => !isOver(claim)).map(([, party]) => party);
      return withTaken({ ...past, ofOwner: new Map(), ofRoot: new Map() }, taking);
    },
  };
}

function note(past: Past, one: string, last: number): void {
  past.set(one, { had: (past.get(one)?.had ?? 0) + 1, last });
}
