import { row } from './row.js';

/** Rows about what the sender of a signal or an event is answered. */
export const signalProblems = {
  event_announced: row(
    (d: { id: string }) => `The event was announced before: document "${d.id}" is there.`,
    'Nothing was changed, since an event counts once. Announce another one with another key, or remove the document first; `tws explain` of it says what it has started.',
    1,
    409,
  ),
  signal_refused: row(
    (d: { job: string; reason: string }) =>
      `Job "${d.job}" refused the signal: ${/[.!?]$/.test(d.reason) ? d.reason : `${d.reason}.`}`,
    'Nothing came of it; correct what the sentence names, and send another signal.',
    3,
    422,
  ),
  answer_late: row(
    (d: { job: string }) => `Job "${d.job}" has not answered the signal in time.`,
    'The signal stays, and is answered in the job: its step has "signal_id" and "answer".',
    124,
    504,
  ),
  signal_failed: row(
    (d: { job: string; reason: string }) =>
      `Job "${d.job}" took the signal and failed to answer it: ${d.reason}`,
    'Look at the job with `tws view`, and at its failure.',
    1,
    409,
  ),
  signal_unanswered: row(
    (d: { job: string }) => `Job "${d.job}" has ended without an answer to the signal.`,
    'Look at the job with `tws history`; a wait answers by its "answer".',
    1,
    409,
  ),
} as const;
