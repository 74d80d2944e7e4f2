import type { Failure } from './step.js';
import { defaultOwner } from './task.js';

/**
 * Every failure the engine itself writes into a job or a step: a stable name and its sentence.
 * Failures of plugins carry the name and message of the error that the plugin threw.
 */
const sentences = {
  InvalidJob: (d: { problem: string; more: number }) =>
    `The job document is not valid: ${d.problem}${andMore(d.more)}`,
  DecisionFault: (d: { reason: string }) =>
    `The engine cannot decide what to do about the job: ${ended(d.reason)} This is a fault of the engine; report it with this document. "tws retry" has the job go on.`,
  DecisionLoop: (d: { writes: number; last: string }) =>
    `The engine wrote the job ${d.writes} times in a row without a step having begun or ended (last: ${ended(d.last)}). It was stopped; "tws retry" has it go on.`,
  DecisionBlocked: (d: { limit: number; engines: string }) =>
    `Deciding what to do about the job blocked ${d.limit} engines in a row (${d.engines}), each until its lease was over. This is a fault of the engine; report it with this document. "tws retry" has the job go on.`,
  InvalidFlow: (d: { flow: string; id: string; problem: string; more: number }) =>
    `Flow "${d.flow}" (document ${d.id}) is not valid: ${d.problem}${andMore(d.more)}`,
  InvalidTask: (d: { task: string; id: string; problem: string; more: number }) =>
    `Task "${d.task}" (document ${d.id}) is not valid: ${d.problem}${andMore(d.more)}`,
  InvalidRequest: (d: { problem: string }) => `The request cannot be applied: ${d.problem}`,
  InvalidEvent: (d: { problem: string }) => `The event releases nothing: ${d.problem}`,
  TriggerRefused: (d: { reason: string }) =>
    `The trigger of the job cannot be evaluated: ${ended(d.reason)} Correct it, and submit a job by hand if it is still needed.`,
  FlowMissing: (d: { flow: string; owner: string }) =>
    `There is no flow "${d.flow}" of owner ${owners(d.owner)}; store it, or correct "flow" and "owner" of the job.`,
  TaskMissing: (d: { task: string; owner: string; at: string }) =>
    `There is no task "${d.task}" of owner ${owners(d.owner)}, which ${d.at} names.`,
  FlowVersionMissing: (d: { flow: string; owner: string; version: string; versions: string }) =>
    `Flow "${d.flow}" of owner "${d.owner}" has no version ${JSON.stringify(d.version)}; ${d.versions === '' ? 'its document has none' : `it has ${d.versions}`}. Store that version, or correct "flow_version" of the job.`,
  FlowAmbiguous: (d: { flow: string; owner: string; why: string }) =>
    `Flow "${d.flow}" of owner "${d.owner}" ${d.why}`,
  TaskAmbiguous: (d: { task: string; owner: string; ids: string }) =>
    `Task "${d.task}" of owner "${d.owner}" is defined by several documents (${d.ids}); keep one.`,
  FlowDisabled: (d: { flow: string }) =>
    `Flow "${d.flow}" is disabled ("enabled": false); enable it and submit the job again.`,
  FlowDeprecated: (d: { flow: string; instead: string }) =>
    `Flow "${d.flow}" is deprecated and takes no new jobs${d.instead === '' ? '.' : `: ${ended(d.instead)}`}`,
  HandlerCycle: (d: { names: string }) =>
    `The error handlers handle each other in a circle (${d.names}); a handler must not come back to itself.`,
  Expired: (d: { expires: string }) => `The job was not begun before it expired at ${d.expires}.`,
  TargetTaken: (d: { target: string; by: string | undefined }) =>
    `${d.by === undefined ? 'A job of another owner' : `Job ${d.by}`} with the same target "${d.target}" and the same parameters has not ended; submit this one again when it has.`,
  TargetLocked: (d: { target: string; by: string | undefined }) =>
    `Job target is currently locked by ${d.by === undefined ? 'a job of another owner' : `job ${d.by}`}: "${d.target}" matches its "locks"; submit this one again when that has ended.`,
  NotUnique: (d: { by: string; of: string }) =>
    `Job ${d.by} has the same "unique" key among the jobs of ${d.of}; submit this one again when that one does not count any more.`,
  UniqueInvalid: (d: { reason: string }) =>
    `The key of "unique" gives nothing that can be compared: ${ended(d.reason)}`,
  LocksInvalid: (d: { reason: string }) =>
    `The "locks" of the job are no regular expression that RE2 knows: ${ended(d.reason)}`,
  LimitReached: (d: { limit: string; most: number; by: string }) =>
    `All permits of ${d.limit} (${d.most}) were taken${d.by === '' ? '' : ` by ${d.by}`}; its strategy "cancel_newest" cancels new work.`,
  LimitKeyError: (d: { limit: string; reason: string }) =>
    `The "key" of ${d.limit} cannot be evaluated: ${ended(d.reason)}`,
  ParamSealed: (d: { param: string; task: string }) =>
    `The parameter ${d.param} of task "${d.task}" is sealed: only its definition sets it; leave it out, or name it in "open" of the task.`,
  SecretMisplaced: (d: { param: string; step: string }) =>
    `The parameter ${d.param} of step ${d.step} is an encrypted value, or refers to one, that does not stand there in a stored task or flow: only such values are decrypted. Put it into the task itself.`,
  SecretGone: (d: { param: string; step: string; task: string }) =>
    `The secret in the parameter ${d.param} of step ${d.step} (task "${d.task}") is gone: the task or flow that is stored now has no encrypted value there. Put it back, or retry with the latest definitions.`,
  SecretForChild: (d: { param: string; step: string; flow: string }) =>
    `The secret in the parameter ${d.param} of step ${d.step} cannot be handed to flow "${d.flow}": put it into a task of that flow.`,
  SecretPlugin: (d: { task: string; now: string; before: string }) =>
    `Task "${d.task}" has a secret and runs plugin "${d.now}" now, and the job would hand it to plugin "${d.before}": retry with the latest definitions.`,
  SchemaInvalid: (d: { of: string; reason: string; key?: string }) =>
    `The "${d.key ?? 'schema'}" of ${d.of} is no JSON Schema that can be checked: ${ended(d.reason)}`,
  ParamsUnfit: (d: { what: string; of: string; problem: string; more: number }) =>
    `${d.what} do not suit the "schema" of ${d.of}: ${d.problem}${d.more > 0 ? ` (and ${d.more} more)` : ''}.`,
  ResultUnfit: (d: { of: string; problem: string; more: number }) =>
    `The result does not suit the "output_schema" of ${d.of}: ${d.problem}${d.more > 0 ? ` (and ${d.more} more)` : ''}.`,
  TemplateError: (d: { at: string; reason: string }) =>
    `The template in ${d.at} cannot be filled in: ${ended(d.reason)}`,
  ExpressionError: (d: { at: string; reason: string }) =>
    `The condition in ${d.at} cannot be evaluated: ${ended(d.reason)}`,
  MappingError: (d: { from: string; reason: string }) =>
    `The stdio mapping from "${d.from}" cannot be made: ${ended(d.reason)}`,
  StepTimeout: (d: { timeout: number }) => `The attempt took longer than its ${d.timeout} ms.`,
  HeartbeatTimeout: (d: { heartbeat: number }) =>
    `The attempt gave no sign of life (heartbeat) for ${d.heartbeat} ms.`,
  AcceptTimeout: (d: { timeout: number; needs: string }) =>
    `No engine took the step within ${d.timeout} ms (it needs ${d.needs}).`,
  FlowTimeout: (d: { timeout: number; at: string }) =>
    `The flow's ${d.timeout} ms were over before ${d.at}.`,
  NotServed: (d: { timeout: number; step: string; needs: string }) =>
    `No engine could take step ${d.step} within the flow's ${d.timeout} ms: it needs ${d.needs}.`,
  EngineLost: (d: { engine: string }) => `The engine that ran the attempt is gone (${d.engine}).`,
  CrashLimit: (d: { engine: string; limit: number }) =>
    `The engine that ran the attempt is gone (${d.engine}); after ${d.limit} lost attempts the step is given up.`,
  Cancelled: (d: { by: string; reason: string }) => `Cancelled${d.by}${d.reason}.`,
  NotNeeded: (_d: Record<never, never>) =>
    'Another part of the flow decided the outcome; the step is not needed any more.',
  Skipped: (_d: Record<never, never>) => 'Somebody decided that the step is left out.',
  RefreshRefused: (d: { step: string; task: string; now: string }) =>
    `The flow has changed at step ${d.step}, which is done or chosen already (it was ${d.task}, it is ${d.now} now); retry without the latest definitions, or submit a new job.`,
  Released: (_d: Record<never, never>) =>
    'The engine stopped and handed the attempt back; it begins again elsewhere.',
  Requeued: (_d: Record<never, never>) => 'The plugin asked to begin again; nothing had failed.',
  RequeueLimit: (d: { limit: number }) =>
    `The step began again ${d.limit} times because its plugin asked for it; that is the most.`,
  TotalTimeout: (d: { timeout: number }) =>
    `The step's ${d.timeout} ms for waiting and all attempts (total_timeout) are over, or would be before it begins again.`,
  Restarted: (d: { step: string }) => `Step ${d.step} had the whole job begin anew.`,
  RestartLimit: (d: { limit: number }) =>
    `The job began anew ${d.limit} times, which is the most that its flow allows ("restarts").`,
  FinishedWith: (d: { exit: number }) => `The flow was finished with exit ${d.exit}.`,
  ExitSet: (d: { exit: number }) => `The plugin ended with exit ${d.exit}.`,
  OutputError: (d: { at: string; reason: string }) =>
    `The flow's ${d.at} cannot be evaluated: ${ended(d.reason)}`,
  DecisionInvalid: (d: { reason: string }) =>
    `The decider did not answer with decisions: ${ended(d.reason)}`,
  WaitTimeout: (d: { awaited: string; timeout: number }) =>
    `The step waited ${d.awaited} for ${d.timeout} ms in vain.`,
  NotApproved: (d: { by: string; comment: string }) =>
    `Not approved${d.by}${d.comment === '' ? '.' : `: ${ended(d.comment)}`}`,
  AssigneeInvalid: (d: { at: string; value: string }) =>
    `Nobody can answer: ${d.at} must give a name or a list of names, and it gives ${d.value}.`,
  WorkerLost: (d: { worker: string; lease: number }) =>
    `Worker "${d.worker}" did not answer, and its lease was not renewed for ${d.lease} ms.`,
  TooManyDecisions: (d: { decisions: number; most: number; of: 'answer' | 'decider' }) =>
    d.of === 'answer'
      ? `The decider answered with ${d.decisions} decisions, and ${d.most} are the most in one answer: let a child flow go over a list with "map", or decide on the rest when some have ended.`
      : `A decider made ${d.decisions} decisions, and ${d.most} are the most before it ends: let it continue as a new job.`,
  DecidedInVain: (d: { answers: number; last: string }) =>
    `The decider was asked ${d.answers} times in a row within a minute, and nothing of what it answered could begin (last: ${ended(d.last)}). Correct the decider; "tws retry" has it asked again.`,
  DeciderFailed: (d: { reason: string }) => d.reason,
  PluginMissing: (d: { plugin: string }) => `Plugin ${d.plugin} went away from this engine.`,
  SecretUnreadable: (d: { reason: string }) => d.reason,
  AttemptFailed: (d: { reason: string }) => d.reason,
  DelayInvalid: (d: { value: string }) =>
    `The delay ${d.value} is neither a number of milliseconds nor a time (ISO 8601 with a zone).`,
  OverInvalid: (d: { at: string; kind: string }) =>
    `${d.at} must give a list to go over; it gives ${d.kind}.`,
  OverTooLong: (d: { at: string; items: number; slice: number | undefined; most: number }) =>
    d.slice === undefined
      ? `${d.at} gives ${d.items} items, and one job goes over ${d.most} at most: set "slice" beside "over", so that child jobs go over so many items each.`
      : `${d.at} gives ${d.items} items, too many for "slice": ${d.slice}: a map has at most ${d.most} slices and 100000 items, and one with an "undo", a signal or a decider in it is not sliced; set a larger "slice", or begin a child job for each part.`,
  ListsTooLarge: (d: { at: string; most: string }) =>
    `With ${d.at}, the lists of all maps of the job are too large together; at most ${d.most} are allowed: set "slice" beside "over", give items that only name what is kept elsewhere, or split the work into child flows.`,
  TooManySteps: (d: { steps: number }) =>
    `The job has ${d.steps} entries in "steps", and no engine goes on with more: split the work into child flows, "slice" the map, or let a decider continue as a new job.`,
  MarkUnfit: (d: { what: string; reason: string }) =>
    `What is on record about the ${d.what} does not fit: ${ended(d.reason)} Somebody has changed the entry in "steps"; "tws retry" finds it out anew, and if that does not fit what was begun, "tws retry --from" does the steps again, too.`,
  LoopLimit: (d: { at: string; max: number }) =>
    `The condition in ${d.at} still holds after ${d.max} rounds, the loop's "max".`,
  StoreRefused: (d: { reason: string }) =>
    `The database refuses the job as it would go on: ${d.reason}`,
  JobTooLarge: (d: { bytes: number; limit: number }) =>
    `The job would be ${d.bytes} bytes long, and the database takes documents of ${d.limit} at most: give smaller results (over 64 KiB they are kept as attachments), or split the work: into child jobs ({"flow": …}), or by a "slice" of the map.`,
  FlowTooDeep: (d: { flow: string; most: number }) =>
    `No child job is made for flow "${d.flow}": ${d.most} jobs wait for each other above it already, which is the most; does a flow call itself?`,
  TooManyJobs: (d: { root: string }) =>
    `As many jobs as may be were made for job ${d.root} already, by child flows of its child flows, so this one does not begin; does a flow call itself? Cancel that job if it goes on.`,
  ChildTaken: (d: { child: string }) =>
    `The child job cannot be stored: another document has its id ${d.child}; remove that one, or submit the job under another id.`,
  ContinuationMissing: (d: { job: string; next: string }) =>
    `Job ${d.job} went on as job ${d.next}, which is not there any more.`,
  ChildFailed: (d: { child: string; reason: string }) =>
    `The child job ${d.child} failed: ${ended(d.reason)}`,
} as const;

export type FailureName = keyof typeof sentences;
type Details<N extends FailureName> = Parameters<(typeof sentences)[N]>[0];

export const failureNames = Object.keys(sentences) as readonly FailureName[];

/** Makes a failure of the table: `failure('FlowMissing', { flow, owner })`. */
export function failure<N extends FailureName>(name: N, details: Details<N>): Failure {
  const say = sentences[name] as (d: Details<N>) => string;
  return { name, message: say(details) };
}

/** Whose definitions were looked through. */
function owners(owner: string): string {
  return owner === defaultOwner ? `"${owner}"` : `"${owner}" or ${defaultOwner}`;
}

function andMore(more: number): string {
  return more > 0 ? ` (and ${more} more, see "problems")` : '';
}

/** A reason that comes from elsewhere, with the full stop that a sentence has. */
function ended(reason: string): string {
  return /[.!?…]$/.test(reason) ? reason : `${reason}.`;
}
