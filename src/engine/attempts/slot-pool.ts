import { freeOf, type SlotNeed } from '../../decide/compete/slot-share.js';

/** The slots of a process, which several engines may share. */
export type SlotPool = {
  readonly slots: number;
  /** Takes an engine in; what it answers counts for that engine. */
  readonly join: (member: PoolMember) => {
    /** Free slots of this engine when `freed` of its own count as free. */
    readonly free: (freed: number) => number;
    /** A slot came free: whoever waits may take one. */
    readonly freed: () => void;
  };
};

export type PoolMember = {
  readonly need: () => SlotNeed;
  /** A slot came free. */
  readonly onFree: () => void;
};

export function createSlotPool(slots: number): SlotPool {
  const members = new Set<PoolMember>();
  const othersOf = (member: PoolMember): readonly PoolMember[] =>
    [...members].filter((one) => one !== member);
  return {
    slots,
    join: (member) => {
      members.add(member);
      return {
        free: (freed) => {
          const { used, waits } = member.need();
          const others = members.size === 1 ? [] : othersOf(member).map(({ need }) => need());
          return freeOf(slots, { used: used - freed, waits }, others);
        },
        freed: () => {
          for (const { onFree } of [...othersOf(member), member]) onFree();
        },
      };
    },
  };
}
