import type { NodeState, Runs } from './picture.js';

const kinds: Readonly<Record<NodeState, keyof Runs | undefined>> = {
  pending: undefined,
  unreached: undefined,
  active: 'open',
  waiting: 'open',
  retrying: 'open',
  done: 'done',
  recovered: 'done',
  skipped: 'done',
  undone: 'done',
  failed: 'failed',
  cancelled: 'failed',
};

/** How many of several runs have come how far. */
export function runsOf(states: readonly NodeState[]): Runs {
  const count = (kind: keyof Runs): number => states.filter((one) => kinds[one] === kind).length;
  return {
    total: states.length,
    done: count('done'),
    failed: count('failed'),
    open: count('open'),
  };
}

/** How several nodes stand as one: what is under way counts first, then what went wrong. */
export function together(states: readonly NodeState[], isOver: boolean): NodeState {
  const some = (...wanted: readonly NodeState[]): boolean =>
    states.some((state) => wanted.includes(state));
  const all = (...wanted: readonly NodeState[]): boolean =>
    states.every((state) => wanted.includes(state));
  if (states.length === 0) return isOver ? 'done' : 'pending';
  if (some('active')) return 'active';
  if (some('waiting')) return 'waiting';
  if (some('retrying')) return 'retrying';
  if (all('unreached')) return 'unreached';
  if (all('pending', 'unreached')) return 'pending';
  if (some('failed')) return 'failed';
  if (some('pending')) return 'active';
  if (some('cancelled')) return 'cancelled';
  if (all('skipped', 'unreached')) return 'skipped';
  if (all('undone', 'unreached')) return 'undone';
  return 'done';
}
