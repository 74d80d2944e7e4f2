import { isEnding, toDecisions } from '../model/decisions.js';
import type { FailedStep, Step } from '../model/step.js';
import type { NodeState } from '../structures/node-state.js';
import type { Trail } from './trail.js';

/**
 * How a step stands: its last attempt tells, then its handlers, then what undid it. `isOver`: it will
 * not begin (again) any more, because the job is final or has gone on behind it.
 */
export function leafState(trail: Trail, path: string, isOver: boolean): NodeState {
  const last = trail.last(path);
  if (last === undefined) return isOver ? 'unreached' : 'pending';
  switch (last.state) {
    case '$$ready':
    case '$$active':
      return 'active';
    case '$$waiting':
      return 'waiting';
    case '$$skipped':
      return 'skipped';
    case '$$complete':
      return doneState(trail, last, isOver);
    case '$$error':
    case '$$timeout':
    case '$$cancelled':
      return failedState(trail, last, isOver);
  }
}

function doneState(trail: Trail, { path, run }: Step, isOver: boolean): NodeState {
  const undo = trail.last(`${path}.undo`);
  if (undo?.state !== '$$complete' || undo.run < run) return 'done';
  return undo.run < trail.run && !isOver ? 'pending' : 'undone';
}

function failedState(trail: Trail, last: FailedStep, isOver: boolean): NodeState {
  if (last.due !== undefined && !isOver) return 'retrying';
  if (handlersOf(trail, last.path).some(({ state }) => state === '$$complete')) return 'recovered';
  if (last.run < trail.run && !isOver) return 'pending';
  return last.state === '$$cancelled' ? 'cancelled' : 'failed';
}

/** The last attempts of the handlers of a step, nearest first. */
function handlersOf(trail: Trail, path: string): readonly Step[] {
  const handler = trail.last(`${path}.error`);
  return handler === undefined ? [] : [handler, ...handlersOf(trail, handler.path)];
}

/**
 * How a decider stands: by what it and its decisions began. It is done when a decision said so, and
 * failed when a decision failed.
 */
export function deciderState(trail: Trail, path: string, isOver: boolean): NodeState {
  if (trail.last(path)?.state === '$$skipped') return 'skipped';
  const open = trail.openBelow(path);
  if (open.some(({ state }) => state !== '$$waiting')) return 'active';
  if (open.length > 0) return 'waiting';
  const last = trail.below(path, ['decision']).at(-1);
  if (last === undefined) return isOver ? 'unreached' : 'pending';
  if (last.state === '$$complete') {
    if (hasEnding(last.result)) return 'done';
    return isOver ? 'cancelled' : 'active';
  }
  return leafState(trail, last.path, isOver);
}

function hasEnding(result: unknown): boolean {
  const answered = toDecisions(result);
  return answered.ok && answered.decisions.some(isEnding);
}
