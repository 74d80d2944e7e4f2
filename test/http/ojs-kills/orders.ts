import fc from 'fast-check';
import type { WorkflowNode } from '../../../src/http/ojs/workflow/schemas.js';
import { flow, task } from '../../support/documents.js';

/**
 * How a job of a workflow is done: by a worker that answers in short; with an answer so long that an engine has to take
 * it; that fails at first and is tried again; by an engine; or as a job of its own, a flow.
 */
export const ways = ['short', 'long', 'again', 'engine', 'flow'] as const;
export type Way = (typeof ways)[number];

/** A job of a workflow as it is drawn; `fails`: for good. */
export const job = (way: Way, fails = false): WorkflowNode => ({ type: way, args: [{ fails }] });

const never = ['Broken'];
const options = { retry: { max_attempts: 9, jitter: false, non_retryable_errors: never } };

/** What an order needs in the database. */
export const documents = [
  task('ojs', { plugin: 'worker' }),
  task('do', { plugin: 'worker', retry: { limit: 8, delay: 1_000, never } }),
  task('engine.do', { plugin: 'done' }),
  { ...flow('flow.do', ['do']), owner: 'DEFAULT' },
];

/** The order as a client sends it: its jobs say their numbers. */
export function sent(node: WorkflowNode, last = { number: 0 }): WorkflowNode {
  const list = node.steps ?? node.jobs;
  if (list === undefined) return sentJob(node, (last.number += 1));
  const parts = list.map((one) => sent(one, last));
  const { callbacks: { on_complete: complete, on_success: success, on_failure: failure } = {} } =
    node as { readonly callbacks?: Readonly<Record<string, WorkflowNode>> };
  const calls = Object.entries({ on_complete: complete, on_success: success, on_failure: failure });
  const callbacks = calls.flatMap(([name, one]) =>
    one === undefined ? [] : [[name, sent(one, last)] as const],
  );
  return {
    ...node,
    ...(node.steps === undefined ? { jobs: parts } : { steps: parts }),
    ...(callbacks.length === 0 ? {} : { callbacks: Object.fromEntries(callbacks) }),
  };
}

function sentJob({ type, args }: WorkflowNode, number: number): WorkflowNode {
  const [{ fails }] = args as [{ fails: boolean }];
  const told = { number, fails, way: type };
  if (type === 'flow') return { type: 'flow.do', args: [{ do: told }] };
  return { type: type === 'engine' ? 'engine.do' : `${String(type)}.do`, args: [told], options };
}

/** What a job is told, as `sentJob` says it. */
export type Told = { readonly number: number; readonly fails: boolean; readonly way: Way };

/** Jobs by chance. */
export const jobs: fc.Arbitrary<WorkflowNode> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ways).map((way) => job(way)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Way>('short', 'long', 'engine', 'flow').map((way) => job(way, true)),
  },
);
