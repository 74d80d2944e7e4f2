import type { Failure } from './step.js';
import { defaultOwner } from './task.js';

/**
 * Every failure the engine itself writes into a job or a step: a stable name and its sentence.
 * Failures of plugins carry the name and message of the error that the plugin threw.
 */
const sentences = {
  InvalidJob: (d: { problem: string; more: number }) =>
    `The job document is not valid: ${d.problem}${andMore(d.more)}`,
  InvalidFlow: (d: { flow: string; id: string; problem: string; more: number }) =>
    `Flow "${d.flow}" (document ${d.id}) is not valid: ${d.problem}${andMore(d.more)}`,
  InvalidTask: (d: { task: string; id: string; problem: string; more: number }) =>
    `Task "${d.task}" (document ${d.id}) is not valid: ${d.problem}${andMore(d.more)}`,
  InvalidRequest: (d: { problem: string }) => `The request cannot be applied: ${d.problem}`,
  FlowMissing: (d: { flow: string; owner: string }) =>
    `There is no flow "${d.flow}" of owner ${owners(d.owner)}; store it, or correct "flow" and "owner" of the job.`,
  TaskMissing: (d: { task: string; owner: string; at: string }) =>
    `There is no task "${d.task}" of owner ${owners(d.owner)}, which ${d.at} names.`,
  FlowAmbiguous: (d: { flow: string; owner: string; ids: string }) =>
    `Flow "${d.flow}" of owner "${d.owner}" is defined by several documents (${d.ids}); keep one.`,
  TaskAmbiguous: (d: { task: string; owner: string; ids: string }) =>
    `Task "${d.task}" of owner "${d.owner}" is defined by several documents (${d.ids}); keep one.`,
  FlowDisabled: (d: { flow: string }) =>
    `Flow "${d.flow}" is disabled ("enabled": false); enable it and submit the job again.`,
  HandlerCycle: (d: { names: string }) =>
    `The error handlers handle each other in a circle (${d.names}); a handler must not come back to itself.`,
  Expired: (d: { expires: string }) => `The job was not begun before it expired at ${d.expires}.`,
  TemplateError: (d: { at: string; reason: string }) =>
    `The template in ${d.at} cannot be filled in: ${ended(d.reason)}`,
  ExpressionError: (d: { at: string; reason: string }) =>
    `The condition in ${d.at} cannot be evaluated: ${ended(d.reason)}`,
  MappingError: (d: { from: string; reason: string }) =>
    `The stdio mapping from "${d.from}" cannot be made: ${ended(d.reason)}`,
  StepTimeout: (d: { timeout: number }) => `The attempt took longer than its ${d.timeout} ms.`,
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
  Released: (_d: Record<never, never>) =>
    'The engine stopped and handed the attempt back; it begins again elsewhere.',
  ExitSet: (d: { exit: number }) => `The plugin ended with exit ${d.exit}.`,
  OutputError: (d: { at: string; reason: string }) =>
    `The flow's ${d.at} cannot be evaluated: ${ended(d.reason)}`,
  StoreRefused: (d: { reason: string }) =>
    `The database refuses the job as it would go on: ${d.reason}`,
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
