import { couchProblems } from './errors/couch.js';
import type { ExitStatus } from './errors/exits.js';
import { formProblems } from './errors/forms.js';
import { hookProblems } from './errors/hooks.js';
import { httpProblems } from './errors/http.js';
import { inputProblems } from './errors/input.js';
import { knownKinds } from './errors/known-kinds.js';
import { machineProblems } from './errors/machine.js';
import { backupProblems } from './errors/backup.js';
import { moveProblems } from './errors/move.js';
import { ojsProblems } from './errors/ojs.js';
import { workflowProblems } from './errors/workflows.js';
import { row } from './errors/row.js';
import { secretProblems } from './errors/secrets.js';
import { signalProblems } from './errors/signals.js';
import { lengthOf } from './words.js';

/**
 * The one table of what can go wrong for a person: a stable code, the sentence that is shown
 * (what, where), what to do about it, the exit status of the command and the HTTP status.
 * Failures inside job documents come from `model/failures.ts`, which is part of this table.
 */

/** By code; `errors/exits.ts` says what each exit status means. */
export const problems = {
  ...couchProblems,
  view_missing: row(
    (d: { database: string; app: string; view: string }) =>
      `Database "${d.database}" has no view "${d.view}" in _design/${d.app}.`,
    'Run `tws init`: it stores the design document.',
    69,
    404,
  ),
  document_missing: row(
    (d: { id: string }) => `There is no document "${d.id}".`,
    'Check the id with `tws list --jobs` (or --flows, --tasks), `tws schedule list` or `tws hook list`.',
    4,
    404,
  ),
  result_missing: row(
    (d: { job: string; step: string }) => `Job ${d.job} has no step "${d.step}" with a result.`,
    'See `tws view JOB` for its steps; a step is named by its name, <task>-<n> or path.',
    4,
    404,
  ),
  name_missing: row(
    (d: { name: string; kinds: string }) =>
      `There is no document "${d.name}", and no ${d.kinds} of that name.`,
    'See `tws list`, `tws schedule list` and `tws hook list` for what is stored; `tws list --jobs --all` shows all jobs.',
    4,
    404,
  ),
  name_ambiguous: row(
    (d: { name: string; ids: string }) => `"${d.name}" may mean several documents (${d.ids}).`,
    'Say which one by its id, as NAME::OWNER, or with --task, --flow, --schedule or --job.',
    2,
    409,
  ),
  document_conflict: row(
    (d: { id: string }) => `Document "${d.id}" was changed by somebody else at the same time.`,
    'Nothing was overwritten: look at it again and repeat the command.',
    1,
    409,
  ),
  definition_exists: row(
    (d: { kind: string; id: string }) => `There is a ${d.kind} "${d.id}" already.`,
    'To replace it send the header If-Match with its revision, or with * for any revision; with ?upsert=true it is stored either way.',
    1,
    409,
  ),
  definition_absent: row(
    (d: { kind: string; id: string }) => `There is no ${d.kind} "${d.id}" that could be replaced.`,
    'Leave If-Match and "_rev" out to store a new one; with ?upsert=true it is stored either way.',
    4,
    412,
  ),
  id_taken: row(
    (d: { id: string; differences: string }) =>
      `Document "${d.id}" is stored already and is not this job: it differs in ${d.differences}.`,
    'Nothing was written: choose another id for another job, or look at the stored one with `tws view`.',
    1,
    409,
  ),
  not_unique: row(
    (d: { id: string }) => `Job ${d.id} has the same "unique" key and still counts.`,
    'Nothing was written: look at that job, or submit this one with "on_conflict": "existing" or "replace".',
    1,
    409,
  ),
  unique_key: row(
    (d: { reason: string }) =>
      `The key of "unique" gives nothing that can be compared: ${d.reason.replace(/[.!]$/, '')}.`,
    'Nothing was written: correct "unique.key" of the job or its flow, or the parameters that it reads.',
    3,
    400,
  ),
  id_unfit: row(
    (d: { id: string; reason: string }) => `The id ${d.id} cannot be used: an id ${d.reason}.`,
    'Choose another id; nothing was written.',
    3,
    422,
  ),
  document_refused: row(
    (d: { id: string; reason: string }) => `Document "${d.id}" is refused: ${d.reason}`,
    'Change the document as the sentence says.',
    3,
    422,
  ),
  definition_missing: row(
    (d: { kind: string; name: string; owner: string }) =>
      `There is no ${d.kind} "${d.name}" of owner "${d.owner}" and no document of that id.`,
    'See `tws list`; a name may be written name::owner.',
    4,
    404,
  ),
  definition_ambiguous: row(
    (d: {
      kind: string;
      name: string;
      owner: string;
      ids: readonly string[];
      why?: string | undefined;
    }) =>
      `The ${d.kind} "${d.name}" of owner "${d.owner}" ${d.why ?? `is stored in several documents (${d.ids.join(', ')}).`}`,
    'Call one by its id, or remove the others with `tws remove ID`; of several versions of a flow `tws flow use` makes one current.',
    3,
    409,
  ),
  document_kind: row(
    (d: { id: string; kind: string; wanted: string }) =>
      knownKinds.includes(d.kind)
        ? `Document "${d.id}" is a ${d.kind}, not a ${d.wanted}.`
        : `Document "${d.id}" is of type ${JSON.stringify(d.kind)}, which TWS does not have; a ${d.wanted} has "type": "${d.wanted}".`,
    'Check the id with `tws list`; `tws schedule show` says what a schedule does.',
    2,
    400,
  ),
  job_ended: row(
    (d: { id: string; state: string }) => `Job "${d.id}" has ended already (${d.state}).`,
    'Nothing was changed; submit a new job to run the flow again.',
    1,
    409,
  ),
  job_running: row(
    (d: { id: string; state: string }) => `Job "${d.id}" has not ended (${d.state}).`,
    'Cancel it first with `tws cancel`, or repeat with --force.',
    1,
    409,
  ),
  wait_given_up: row(
    (d: { id: string; database: string; ms: number }) =>
      `Database ${d.database} has given no answer for ${lengthOf(d.ms)}, so job "${d.id}" is waited for no longer.`,
    'The job may go on all the same: when the database is back, see `tws explain JOB` and `tws view JOB`.',
    69,
    503,
  ),
  wait_over: row(
    (d: { id: string; ms: number }) =>
      `Job "${d.id}" has not ended within the ${lengthOf(d.ms)} of --timeout.`,
    'The job goes on: see `tws explain JOB`, or end it with `tws cancel JOB`.',
    124,
    504,
  ),
  request_refused: row(
    (d: { action: string; job: string; reason: string }) =>
      `The request to ${d.action} job "${d.job}" was refused: ${d.reason}`,
    'Look at the job with `tws view`.',
    1,
    409,
  ),
  database_not_ready: row(
    (d: { database: string }) => `The database "${d.database}" has no current design document.`,
    'Run `tws init` once; it adds what is missing and changes nothing else.',
    69,
    503,
  ),
  exists_already: row(
    (d: { path: string }) => `${d.path} exists already and is left as it is.`,
    'Choose another name, or remove it first.',
    1,
    409,
  ),
  write_unknown: row(
    (d: { id: string; cause: string }) =>
      `It is not known whether document "${d.id}" was stored (${d.cause}).`,
    'Look at it with `tws view` and repeat the command if it is not there.',
    69,
    503,
  ),
  engine_name_taken: row(
    (d: { name: string; host: string; pid: string }) =>
      `An engine named "${d.name}" is running already: process ${d.pid} on ${d.host}.`,
    'Start this one with another --name, or stop that one first.',
    73,
    409,
  ),
  engine_broken: row(
    (d: { reason: string }) =>
      `The engine stops because its state is no longer known: an error that came from no plugin was not caught (${d.reason}).`,
    'Please report it with the lines of the log before it, and start the engine again.',
    70,
    500,
  ),
  engine_fatal: row(
    (d: { job: string; step: string; name: string; message: string }) =>
      `The engine stops: step ${d.step} of job ${d.job} failed with ${d.name}, which its flow calls fatal: ${d.message}`,
    'Correct the cause and start the engine again; what it ran has ended or goes on elsewhere.',
    70,
    503,
  ),
  interrupted: row(
    (_: Readonly<Record<string, never>>) => 'Interrupted.',
    'Nothing more was done; the command can be repeated.',
    130,
    499,
  ),
  ...inputProblems,
  ...secretProblems,
  ...signalProblems,
  ...formProblems,
  ...machineProblems,
  ...httpProblems,
  ...hookProblems,
  ...backupProblems,
  ...moveProblems,
  ...ojsProblems,
  ...workflowProblems,
} as const;

export type ProblemCode = keyof typeof problems;
type Details<C extends ProblemCode> = Parameters<(typeof problems)[C]['say']>[0];

/** An expected problem on its way to a person: the sentence is `message`, the remedy `hint`. */
export class TwsError extends Error {
  override readonly name = 'TwsError';
  readonly hint: string;
  readonly exit: ExitStatus;
  readonly status: number;
  /** The other job, and how the job stands, where that is the problem. */
  readonly job: string | undefined;
  readonly state: string | undefined;
  constructor(
    readonly code: ProblemCode,
    message: string,
    options?: ErrorOptions & Partial<Pick<TwsError, 'job' | 'state'>>,
  ) {
    super(message, options);
    this.job = options?.job;
    this.state = options?.state;
    const { hint, exit, status } = problems[code];
    this.hint = hint;
    this.exit = exit;
    this.status = status;
  }
}
/** Makes the error of a table row: `problem('document_missing', { id })`. */
export function problem<C extends ProblemCode>(
  code: C,
  details: Details<C>,
  options?: ErrorOptions,
): TwsError {
  const say = problems[code].say as (d: Details<C>) => string;
  const other = code === 'not_unique' ? { job: (details as Details<'not_unique'>).id } : {};
  const { state } = details as { readonly state?: string };
  const how = code.startsWith('ojs_') ? { state } : {};
  return new TwsError(code, say(details), { ...options, ...other, ...how });
}
