/**
 * How engines of one process share its slots.
 *
 * V1 No slot stays free while one of them has a job for it, and no running step is taken away.
 * V2 While several have jobs that wait, each comes to an equal part of the slots: one that has less
 *    gets the next that come free.
 */

/** What an engine has of the slots, and whether jobs wait there for more. */
export type SlotNeed = { readonly used: number; readonly waits: boolean };

/** Returns how many slots are free for an engine, as the others use and want the slots. */
export function freeOf(slots: number, own: SlotNeed, others: readonly SlotNeed[]): number {
  const free = others.reduce((left, { used }) => left - used, slots - own.used);
  const sharing = others.filter(({ used, waits }) => used > 0 || waits).length + 1;
  const part = Math.max(1, Math.floor(slots / sharing));
  const kept = others
    .filter(({ waits }) => waits)
    .reduce((sum, { used }) => sum + Math.max(0, part - used), 0);
  return Math.max(0, Math.min(free, Math.max(part - own.used, free - kept)));
}
