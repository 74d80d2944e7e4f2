import type { Step } from '../../model/step.js';
import type { Tip } from './tips.js';

/**
 * The document with what users sent to the other tip: its cancel, requests not applied here, signals
 * that have not come here, notes.
 */
export function withWishes(tip: Tip, other: Tip): Tip {
  return withMessages(withRequests(tip, other), other);
}

function withMessages(tip: Tip, other: Tip): Tip {
  const signals = missing(tip, other, 'signals', ({ id }) => id);
  const notes = missing(tip, other, 'notes', ({ text, at, by }) => JSON.stringify([text, at, by]));
  if (signals.length === 0 && notes.length === 0) return tip;
  return {
    ...tip,
    ...(signals.length === 0 ? {} : { signals: [...listIn(tip, 'signals'), ...signals] }),
    ...(notes.length === 0 ? {} : { notes: [...listIn(tip, 'notes'), ...notes] }),
  };
}

function withRequests(tip: Tip, other: Tip): Tip {
  const missed = missing(tip, other, 'requests', ({ id }) => id);
  const cancel = isAsked(other['cancel']) && !isAsked(tip['cancel']);
  if (!cancel && missed.length === 0) return tip;
  const halted = missed.findLast(({ action }) => action === 'pause' || action === 'resume');
  return {
    ...tip,
    ...(cancel ? { cancel: other['cancel'] } : {}),
    ...(halted === undefined ? {} : { paused: halted.action === 'pause' }),
    ...(missed.length === 0 ? {} : { requests: [...listIn(tip, 'requests'), ...missed] }),
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

type Told = Readonly<Record<string, unknown>>;

/** What a list of the other tip holds and the same list here does not, by what makes it the same. */
function missing(
  tip: Tip,
  other: Tip,
  key: string,
  sameBy: (entry: Told) => unknown,
): readonly Told[] {
  const known = new Set(listIn(tip, key).map(sameBy));
  return listIn(other, key).filter((entry) => !known.has(sameBy(entry)));
}

function listIn(tip: Tip, key: string): readonly Told[] {
  const value = tip[key];
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.filter((entry): entry is Told => typeof entry === 'object' && entry !== null);
}
