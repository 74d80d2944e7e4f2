import type { Status } from '../../model/status.js';
import type { NodeState } from '../../structures/node-state.js';

/** What a state is called, and the status that has the same colour. */
type Shown = { readonly word: string; readonly tone: Status };

const attemptWords: Readonly<Record<string, Shown>> = {
  $$ready: { word: 'claimed', tone: 'running' },
  $$active: { word: 'running', tone: 'running' },
  $$waiting: { word: 'waiting', tone: 'waiting' },
  $$complete: { word: 'succeeded', tone: 'succeeded' },
  $$error: { word: 'failed', tone: 'failed' },
  $$timeout: { word: 'timed out', tone: 'failed' },
  $$cancelled: { word: 'cancelled', tone: 'cancelled' },
  $$skipped: { word: 'skipped', tone: 'cancelled' },
};

/** How the state of an attempt is shown; a document may hold any text. */
export function attemptShown(state: string): Shown {
  return Object.hasOwn(attemptWords, state)
    ? (attemptWords[state] as Shown)
    : { word: state, tone: 'queued' };
}

/** States of a step that something after its last attempt made. */
export const isBehindAttempts = (state: NodeState): boolean =>
  ['recovered', 'undone', 'retrying'].includes(state);

/** How the state of a node of the flow is shown. */
export const nodeShown: Readonly<Record<NodeState, Shown>> = {
  failed: { word: 'failed', tone: 'failed' },
  active: { word: 'running', tone: 'running' },
  waiting: { word: 'waiting', tone: 'waiting' },
  retrying: { word: 'retrying', tone: 'waiting' },
  done: { word: 'succeeded', tone: 'succeeded' },
  recovered: { word: 'recovered', tone: 'succeeded' },
  skipped: { word: 'skipped', tone: 'cancelled' },
  undone: { word: 'undone', tone: 'cancelled' },
  cancelled: { word: 'cancelled', tone: 'cancelled' },
  pending: { word: 'not begun', tone: 'queued' },
  unreached: { word: 'not reached', tone: 'queued' },
};
