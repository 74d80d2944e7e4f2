import { isObject } from '../../model/object.js';
import { formFactsIn, messagesOf, type FormFacts } from '../../reading/form-facts.js';
import { readSteps, type StepReading } from '../../reading/step-reading.js';
import type { AnyDocument } from '../answers.js';

/** An attempt as the reading of the job has it, with what its plugin got, answered and told. */
export type StoredAttempt = Omit<StepReading, 'failure'> & {
  readonly failure?: { readonly name: string; readonly message: string; readonly code?: string };
  readonly warning?: string;
  /** Undefined: nothing. */
  readonly params?: unknown;
  readonly result?: unknown;
  readonly progress?: unknown;
  readonly details?: unknown;
  /** What it asks or asked of people. */
  readonly form?: FormFacts;
  readonly log: readonly {
    readonly at: number;
    readonly message: string;
    readonly data?: unknown;
  }[];
};

/** The attempts of a job in the order in which they were made; marks of structures are none. */
export function attemptsIn(job: AnyDocument): readonly StoredAttempt[] {
  const steps = (job.steps ?? []) as readonly unknown[];
  const messages = messagesOf(job);
  return readSteps(job)
    .filter(({ structure }) => structure === undefined)
    .map((read) => {
      const step = steps[read.place] as Readonly<Record<string, unknown>>;
      const form = formFactsIn(step, messages);
      return { ...attemptOf(read, step), ...(form === undefined ? {} : { form }) };
    });
}

/** When it began for whoever looks at it: waiting counts from when it waits. */
export function beganAt({ accepted, start, since, end }: StoredAttempt): number | undefined {
  return accepted ?? start ?? since ?? end;
}

/** Whether the path of an attempt (`2.map.17.0`) is one of a node of the picture (`2.map.*.0`). */
export function isAt(path: string, node: string): boolean {
  if (path === node) return true;
  const words = path.split('.');
  const pattern = node.split('.');
  return (
    words.length === pattern.length &&
    pattern.every((word, i) => word === words[i] || (word === '*' && /^\d+$/.test(words[i] ?? '')))
  );
}

function attemptOf(read: StepReading, step: Readonly<Record<string, unknown>>): StoredAttempt {
  const { failure, warning, log } = step;
  const { failure: _sentence, ...rest } = read;
  const path = read.path === '' ? String(read.place) : read.path;
  return {
    ...rest,
    path,
    name: read.name === '' ? 'step' : read.name,
    ...(isObject(failure) ? { failure: failureOf(failure) } : {}),
    ...(isObject(warning) ? { warning: failureOf(warning).message } : {}),
    ...known(step, ['params', 'result', 'progress', 'details']),
    log: Array.isArray(log) ? (log as readonly unknown[]).filter(isObject).map(lineOf) : [],
  };
}

function failureOf({ name, message, code }: Readonly<Record<string, unknown>>) {
  const known = typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {};
  return { name: textOf(name) ?? 'Error', message: textOf(message) ?? '', ...known };
}

function lineOf({ at, message, data }: Readonly<Record<string, unknown>>) {
  return {
    at: numberOf(at) ?? 0,
    message: textOf(message) ?? JSON.stringify(message),
    ...(data === undefined ? {} : { data }),
  };
}

/** Those of the keys that are there. */
function known<K extends string>(
  step: Readonly<Record<string, unknown>>,
  keys: readonly K[],
): Partial<Record<K, unknown>> {
  const found = keys.filter((key) => step[key] !== undefined);
  return Object.fromEntries(found.map((key) => [key, step[key]])) as Partial<Record<K, unknown>>;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
