import { partyOf } from '../../../src/reading/entries.js';
import { type SlotUse } from '../../../src/decide/compete/fair-share.js';
import type { SlotFacts } from '../../../src/engine/waiting/slot-queues.js';

const nobody: SlotUse = {
  ofOwner: new Map(),
  ofRoot: new Map(),
  had: () => 0,
  lastOfOwner: () => 0,
  lastOfRoot: () => 0,
};

/** All slots are free, and every task may run once more. */
export const idle: SlotFacts = { hasRoom: () => true, use: () => nobody };

/** So many slots are taken by these jobs of owner `me`. */
export function inUse(jobs: Readonly<Record<string, number>>): SlotFacts {
  const roots = Object.entries(jobs).map(
    ([id, slots]) => [partyOf({ _id: id, owner: 'me' }).root, slots] as const,
  );
  const all = roots.reduce((sum, [, slots]) => sum + slots, 0);
  const use = { ...nobody, ofOwner: new Map([['me', all]]), ofRoot: new Map(roots) };
  return { ...idle, use: () => use };
}
