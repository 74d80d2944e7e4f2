import { createHash } from 'node:crypto';
import { z } from 'zod';
import { problem } from '../../errors.js';
import { readFunction } from '../../node-workflow/functions.js';
import { numberIn, secondsToMs, usualTimeoutS } from '../../node-workflow/numbers.js';
import type { StoredDocument } from '../../model/document.js';
import { isObject } from '../../model/object.js';
import { ownerOf } from '../../model/task.js';
import { scriptOf } from './script.js';

const taskSchema = z.looseObject({
  name: z.string().min(1).optional(),
  body: z.string().optional(),
  fallback: z.string().optional(),
  retry: z.unknown().optional(),
  timeout: z.unknown().optional(),
});
type GivenTask = z.infer<typeof taskSchema>;

/** A workflow as clients send it. */
export const chainWorkflowSchema = z.looseObject({
  name: z.string().min(1),
  uuid: z.string().min(1).max(200).optional(),
  timeout: z.unknown().optional(),
  chain: z.array(taskSchema).max(1_000).default([]),
  onerror: z.array(taskSchema).max(1_000).optional(),
  oncancel: z.array(taskSchema).max(1_000).optional(),
});
export type GivenWorkflow = z.infer<typeof chainWorkflowSchema>;

type Document = Readonly<Record<string, unknown>> & { readonly _id: string };

/** What is stored of a workflow: its flow, and a task for each function. */
export type WorkflowDocuments = { readonly flow: Document; readonly tasks: readonly Document[] };

/** @throws TwsError `workflow_invalid` */
export function documentsOfWorkflow(
  given: GivenWorkflow,
  { owner, uuid }: { readonly owner: string; readonly uuid: string },
): WorkflowDocuments {
  const { name, chain, onerror = [], oncancel = [] } = given;
  const timeout = given.timeout === false ? 0 : secondsIn(given.timeout, 'its "timeout"');
  const place = { owner, uuid, timeout };
  const chains = { chain, onerror, oncancel };
  const [main, failed, cancelled] = Object.entries(chains).map(([key, tasks]) =>
    tasks.map((task, i) => documentsOfTask(task, `${uuid}.${key}.${i}`, place)),
  );
  const all = [main, failed, cancelled].map((some = []) => some);
  const entries = (some: readonly TaskDocuments[] | undefined) =>
    some === undefined || some.length === 0 ? undefined : some.map(({ entry }) => entry);
  const most = numberIn(given['max_attempts'], 10) ?? 10;
  const delays = ['initial_delay', 'max_delay'].flatMap((key) => {
    const ms = numberIn(given[key], -1) ?? -1;
    return ms < 0 ? [] : [[key, ms] as const];
  });
  const flow = {
    _id: `flow:${owner}:${name}`,
    ...{ type: 'flow', name, owner, tasks: entries(main) ?? [] },
    ...optional('error', entries(failed)),
    ...optional('cancel', entries(cancelled)),
    timeout: secondsToMs(timeout),
    schema: { type: 'object', additionalProperties: true },
    restarts: Math.max(0, Math.floor(most) - 1),
    node_workflow: {
      ...{ uuid, max_attempts: most, ...Object.fromEntries(delays) },
      ...(timeout === 0 ? {} : { timeout }),
      workflow: { ...given, uuid, ...(timeout === 0 ? {} : { timeout }), max_attempts: most },
    },
  };
  return { flow, tasks: all.flat().flatMap(({ tasks }) => tasks) };
}

const optional = (key: string, value: unknown) => (value === undefined ? {} : { [key]: value });

type TaskDocuments = { readonly entry: object; readonly tasks: readonly Document[] };

function documentsOfTask(
  given: GivenTask,
  id: string,
  { owner, timeout: most }: { readonly owner: string; readonly timeout: number },
): TaskDocuments {
  const { name = id, body, fallback } = given;
  const called = `task ${JSON.stringify(name)}: `;
  const own = secondsIn(given.timeout, `${called}its "timeout"`) || usualTimeoutS;
  const timeout = secondsToMs(most > 0 ? Math.min(own, most) : own);
  const attempts = numberIn(given.retry, 1);
  if (attempts === undefined) refuse(`${called}its "retry" is no number of attempts.`);
  const retries = Math.max(0, Math.floor(attempts) - 1);
  const task = (
    taskName: string,
    source: string | undefined,
    part: 'body' | 'fallback',
  ): Document => ({
    _id: `task:${owner}:${taskName}`,
    ...{ type: 'task', name: taskName, owner, plugin: 'script', timeout },
    // Whoever submits jobs has no say in what they run.
    sealed: ['code'],
    params: { code: scriptOf(functionIn(source, part, called), part) },
  });
  const failed = fallback ? task(`${id}.fallback`, fallback, 'fallback') : undefined;
  const main = {
    ...task(id, body, 'body'),
    ...(retries === 0 ? {} : { retry: { limit: retries, delay: 0 } }),
    ...(failed === undefined ? {} : { error: `${id}.fallback` }),
  };
  return { entry: { task: id, name }, tasks: [main, ...(failed === undefined ? [] : [failed])] };
}

function functionIn(source: string | undefined, part: 'body' | 'fallback', called: string): string {
  const found = readFunction(source, part);
  if (!found.ok) return refuse(`${called}${found.problem}`);
  return found.source;
}

function secondsIn(given: unknown, what: string): number {
  return numberIn(given, usualTimeoutS) ?? refuse(`${what} is no number of seconds.`);
}

function refuse(reason: string): never {
  throw problem('workflow_invalid', { reason });
}

/** A flow as clients of node-workflow see it; undefined: it is no workflow of theirs. */
export type SeenWorkflow = Readonly<Record<string, unknown>> & {
  readonly uuid: string;
  readonly name: string;
  readonly chain: readonly unknown[];
};

/** The workflow that a flow, or the copy of it in a job, is. `id`: of the flow, where it is known. */
export function seenWorkflow(
  flow: Readonly<Record<string, unknown>>,
  id = textIn(flow['_id']),
): SeenWorkflow | undefined {
  const kept = flow['node_workflow'];
  if (!isObject(kept)) return undefined;
  const { workflow, uuid, ...settings } = kept;
  const whole = isObject(workflow) ? workflow : { ...settings, ...importedChains(flow) };
  const chains = ['chain', 'onerror', 'oncancel'].flatMap((key) =>
    Array.isArray(whole[key]) ? [[`${key}_md5`, md5(whole[key])] as const] : [],
  );
  return {
    ...whole,
    ...Object.fromEntries(chains),
    uuid: typeof uuid === 'string' ? uuid : id,
    name: textIn(flow['name']),
    chain: Array.isArray(whole['chain']) ? (whole['chain'] as readonly unknown[]) : [],
  };
}

/** Of one that was imported only the names of its tasks are known: their code is in plugins. */
function importedChains({ tasks, error, cancel }: Readonly<Record<string, unknown>>) {
  const named = (some: unknown): readonly object[] =>
    (Array.isArray(some) ? (some as readonly unknown[]) : []).map((one) =>
      isObject(one) ? { name: one['name'] ?? one['task'] } : { name: one },
    );
  return { chain: named(tasks), onerror: named(error), oncancel: named(cancel) };
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

const md5 = (value: unknown): string =>
  createHash('md5').update(JSON.stringify(value)).digest('hex');

/** What tells workflows of all owners apart, by the flow that a job names. */
export const flowKey = (doc: StoredDocument, name: unknown): string =>
  `${ownerOf(doc)}\n${textIn(name)}`;
