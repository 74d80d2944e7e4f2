import { isObject } from '../model/object.js';
import { defaultQueue } from '../model/job.js';
import type { StoredDocument } from '../model/document.js';
import { pluginOf } from '../model/task.js';
import { textOf } from '../words.js';
import { leavesOf } from '../structures/tree.js';
import type { Leaf, Structure } from '../model/tree.js';

/** What a stored step tells, read from a job of any shape. Times in epoch ms. */
export type Told = {
  readonly name: string;
  readonly path: string;
  readonly state: string;
  readonly task?: string;
  readonly plugin?: string;
  readonly engine?: string;
  readonly structure?: string;
  readonly child?: string;
  /** When the child was made again, because its document was deleted. */
  readonly remade?: number;
  readonly signal?: string;
  readonly worker?: string;
  readonly event?: string;
  readonly key?: string;
  readonly until?: number;
  /** Of a decider that waits for any signal: how many had come. */
  readonly news?: number;
  readonly attempt?: number;
  readonly run?: number;
  readonly accepted?: number;
  readonly start?: number;
  readonly end?: number;
  readonly due?: number;
  /** Since when a worker has it. */
  readonly leased?: number;
  /** Ended without success. */
  readonly failed: boolean;
  /** The sentence of its failure. */
  readonly failure?: string;
};

/** The steps of a job document, whatever else it holds. */
export function stepsOf({ steps }: StoredDocument): readonly Told[] {
  if (!Array.isArray(steps)) return [];
  return steps.filter(isObject).map((step) => {
    const state = textOf(step['state']);
    const failure = isObject(step['failure']) ? step['failure']['message'] : undefined;
    return {
      name: typeof step['name'] === 'string' ? step['name'] : textOf(step['task']),
      path: textOf(step['path']),
      state,
      ...texts(step, [
        'task',
        'plugin',
        'engine',
        'child',
        'signal',
        'worker',
        'event',
        'key',
        'structure',
      ]),
      ...numbers(step, [
        'attempt',
        'run',
        'accepted',
        'start',
        'end',
        'due',
        'until',
        'leased',
        'news',
        'remade',
      ]),
      failed: ['$$error', '$$timeout', '$$cancelled'].includes(state),
      ...(typeof failure === 'string' ? { failure } : {}),
    };
  });
}

/** A step that may begin next, and what it needs of an engine. */
export type ToCome = {
  readonly name: string;
  readonly plugin: string;
  readonly labels: readonly string[];
};

/** The queue of a begun job: its own, its flow's, or what it has from its parent's flow. */
export function queueIn({ queue, flow_definition: flow, parent }: StoredDocument): string {
  const places = [queue, isObject(flow) && flow['queue'], isObject(parent) && parent['queue']];
  return places.find((one) => typeof one === 'string') ?? defaultQueue;
}

/**
 * The steps of a begun job that may come next, by its documents alone. In a plain sequence that is
 * one, or the handler of the one that failed; in any other structure it may be each that is not done.
 * Steps that run a flow need no engine and are left out.
 */
export function nextSteps(job: StoredDocument): readonly ToCome[] {
  const { tasks, definitions } = job;
  if (!isObject(tasks) || !isObject(definitions)) return [];
  const last = stepsOf(job).at(-1);
  const leaves = leavesIn(tasks);
  // A failed step of an earlier run is begun anew: the flow itself is tried again.
  const ended = last?.failed === true && last.due === undefined && last.run === job['run'];
  const open =
    last !== undefined && ended
      ? handlersOf(last, leaves, job)
      : openLeaves(job, leaves, tasks['structure'] === 'sequence');
  return open.flatMap(({ name, task, decider }) => {
    if (decider !== undefined) return [{ name, plugin: decider, labels: [] }];
    const definition = definitions[task];
    if (!isObject(definition) || typeof definition['flow'] === 'string') return [];
    const { plugin, labels } = definition;
    const named = typeof plugin === 'string' ? { name: task, plugin } : { name: task };
    const asked = Array.isArray(labels) ? labels.filter((one) => typeof one === 'string') : [];
    return [{ name, plugin: pluginOf(named), labels: asked }];
  });
}

type Named = { readonly name: string; readonly task: string; readonly decider?: string };

/** A snapshot may have been edited by hand into something that is no tree. */
function leavesIn(tasks: Record<string, unknown>): readonly Leaf[] {
  try {
    return leavesOf(tasks as unknown as Structure);
  } catch {
    return [];
  }
}

function handlersOf(failed: Told, leaves: readonly Leaf[], job: StoredDocument): readonly Named[] {
  const { definitions, flow_definition: flow } = job;
  const entry = leaves.find(({ path }) => path === failed.path)?.entry;
  const task = isObject(definitions) ? definitions[failed.task ?? ''] : undefined;
  const ofFlow = isObject(flow) && isObject(flow['error']) ? handlerIn(flow['error']) : undefined;
  const handler = entry?.error ?? (isObject(task) ? task['error'] : undefined) ?? ofFlow;
  return typeof handler === 'string' ? [{ name: handler, task: handler }] : [];
}

/** The task of a handler, or the first one of a structure. */
function handlerIn(error: Record<string, unknown>): unknown {
  return 'structure' in error ? leavesIn(error)[0]?.entry.task : error['name'];
}

function openLeaves(
  job: StoredDocument,
  leaves: readonly Leaf[],
  inSequence: boolean,
): readonly Named[] {
  const done = new Set(
    stepsOf(job)
      .filter(({ state }) => state === '$$complete' || state === '$$skipped')
      // A handler that completed has recovered the step it stands for.
      .map(({ path }) => path.replace(/(?:\.error)+$/, '')),
  );
  const open = leaves
    .filter(({ path }) => !done.has(path))
    .map(({ name, entry: { task, decider } }) =>
      decider === undefined ? { name, task } : { name, task, decider },
    );
  const inOrder = inSequence && leaves.every(({ path }) => /^\d+(?:\.sequence\.\d+)*$/.test(path));
  return inOrder ? open.slice(0, 1) : open;
}

type Texts<K extends string> = { readonly [P in K]?: string };
/** The keys of an object that hold texts. */
export function texts<K extends string>(
  from: Record<string, unknown>,
  keys: readonly K[],
): Texts<K> {
  const found = keys.filter((key) => typeof from[key] === 'string');
  return Object.fromEntries(found.map((key) => [key, from[key]])) as Texts<K>;
}

type Numbers<K extends string> = { readonly [P in K]?: number };
/** The keys of an object that hold numbers. */
export function numbers<K extends string>(
  from: Record<string, unknown>,
  keys: readonly K[],
): Numbers<K> {
  const found = keys.filter((key) => typeof from[key] === 'number');
  return Object.fromEntries(found.map((key) => [key, from[key]])) as Numbers<K>;
}
