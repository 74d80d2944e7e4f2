import type { Step } from '../../model/step.js';
import type { Tip } from './tips.js';

/** The document with what users asked of the other tip: its cancel, and requests not applied here. */
export function withWishes(tip: Tip, other: Tip): Tip {
  const known = new Set(requestsOf(tip).map(({ id }) => id));
  const missed = requestsOf(other).filter(({ id }) => !known.has(id));
  const cancel = isAsked(other['cancel']) && !isAsked(tip['cancel']);
  if (!cancel && missed.length === 0) return tip;
  const halted = missed.findLast(({ action }) => action === 'pause' || action === 'resume');
  return {
    ...tip,
    ...(cancel ? { cancel: other['cancel'] } : {}),
    ...(halted === undefined ? {} : { paused: halted.action === 'pause' }),
    ...(missed.length === 0 ? {} : { requests: [...requestsOf(tip), ...missed] }),
  };
}

/** The document with a problem for each attempt that ran beside what it tells. */
export function withNotes(tip: Tip, steps: readonly Step[]): Tip {
  if (steps.length === 0) return tip;
  const { problems } = tip;
  const before: readonly unknown[] = Array.isArray(problems) ? problems : [];
  const notes = steps.map((step) => {
    const what = `Attempt ${step.attempt} of step ${step.name}`;
    const message = `${what} ran on ${String(step['engine'])} as well (claim ${String(step['claim'])}), when the step was done already.`;
    return { path: 'steps', message };
  });
  return { ...tip, problems: [...before, ...notes] };
}

/** Somebody wants the job to begin nothing more. */
export function isHeld(tip: Tip): boolean {
  return isAsked(tip['cancel']) || tip['paused'] === true;
}

function isAsked(wish: unknown): boolean {
  return wish !== undefined && wish !== false;
}

type Applied = { readonly id?: unknown; readonly action?: unknown };

function requestsOf({ requests }: Tip): readonly Applied[] {
  const list: readonly unknown[] = Array.isArray(requests) ? requests : [];
  return list.filter((entry): entry is Applied => typeof entry === 'object' && entry !== null);
}
