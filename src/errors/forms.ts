import { row } from './row.js';

const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Rows about answers to forms. */
export const formProblems = {
  form_answered: row(
    (d: { reason: string }) => ended(d.reason),
    'Nothing was changed: the first answer counts. `tws inbox` lists what still waits.',
    1,
    409,
  ),
  form_missing: row(
    (d: { job: string; step: string }) =>
      `Job "${d.job}" has no form${d.step === '' ? '' : ` "${d.step}"`} that waits for an answer.`,
    'See `tws inbox --all`, or `tws view JOB` for its steps.',
    4,
    404,
  ),
  form_ambiguous: row(
    (d: { job: string; paths: string }) =>
      `Several forms of job "${d.job}" wait for an answer (${d.paths}).`,
    'Say which one by its path.',
    2,
    409,
  ),
  form_not_asked: row(
    (d: { step: string; people: string; who: string }) =>
      `Step "${d.step}" waits for ${d.people}${d.who === '' ? '' : `, and you are "${d.who}"`}.`,
    'Only those who are asked may answer, and administrators.',
    77,
    403,
  ),
  form_unfit: row(
    (d: { step: string; first: string; more: string }) =>
      `The answer does not fit the form of step "${d.step}": ${ended(d.first)}${d.more === '' ? '' : ` ${d.more}`}`,
    'Correct what the sentences name; `tws inbox --json` has the schema of the form.',
    3,
    422,
  ),
} as const;
