import { readUnique } from '../model/unique.js';
import type { FileProblem, Written } from './written.js';

/** `unique.states` that do not count a job which is about to begin: the key then passes on to the next one. */
export function looseStates({ unique }: Written): readonly Omit<FileProblem, 'file'>[] {
  const states = readUnique(unique)?.states;
  if (states === undefined || states.includes('queued')) return [];
  const message =
    'unique.states leaves out "queued": a job that has not begun does not count, so two jobs with the same key that begin at the same time may both run.';
  return [{ path: 'unique.states', message }];
}
