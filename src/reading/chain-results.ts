import type { Step } from '../model/step.js';
import { isWithin } from '../model/tree.js';
import { isOfEnd } from '../structures/paths.js';

/** How a task of a chain ended, as node-workflow keeps it; times in ISO 8601. */
export type ChainResult = {
  readonly name: string;
  readonly result: unknown;
  readonly error: unknown;
  readonly started_at?: string;
  readonly finished_at?: string;
};

/** The results of the three chains of a workflow, in the order in which the tasks ran. */
export type ChainResults = {
  readonly chain: readonly ChainResult[];
  readonly onerror: readonly ChainResult[];
  readonly oncancel: readonly ChainResult[];
};

type Line = Pick<Step, 'path' | 'state' | 'run'> & Readonly<Record<string, unknown>>;

/**
 * What the steps of a job, of any form, are in the words of node-workflow: one result for each task that has
 * ended or waits, since the job last began anew. What its fallback recovered has the result of the fallback; an
 * attempt that is tried again has none yet.
 */
export function chainResultsOf(job: Readonly<Record<string, unknown>>): ChainResults {
  const { steps, first_run: first = 1 } = job;
  const all = (Array.isArray(steps) ? (steps as readonly Line[]) : []).filter(
    ({ path, run }) => typeof path === 'string' && run >= Number(first),
  );
  const last = new Map<string, Line>();
  for (const step of all) {
    last.delete(step.path);
    last.set(step.path, step);
  }
  const of = (isMeant: (path: string) => boolean): readonly ChainResult[] =>
    [...last.values()]
      .filter(({ path }) => isMeant(path) && !isFallback(path))
      .flatMap((step) => resultOf(step, last.get(`${step.path}.error`)));
  return {
    chain: of((path) => !isOfEnd(path)),
    onerror: of((path) => isWithin(path, 'error')),
    oncancel: of((path) => isWithin(path, 'cancel')),
  };
}

/** Whether a path is that of the handler of a task. */
const isFallback = (path: string): boolean => path !== 'error' && path.endsWith('.error');

function resultOf(step: Line, fallback: Line | undefined): readonly ChainResult[] {
  const { name, state, start, end, since, due } = step;
  const at = { ...timeAt('started_at', start), ...timeAt('finished_at', end ?? since) };
  const about = { name: String(name) };
  switch (state) {
    case '$$complete':
      return [{ ...about, result: step['result'] ?? '', error: '', ...at }];
    case '$$waiting':
      return [{ ...about, result: 'OK', error: 'wait', ...at }];
    case '$$skipped':
      return [{ ...about, result: '', error: '', ...at }];
    case '$$ready':
    case '$$active':
      return [];
    case '$$error':
    case '$$timeout':
    case '$$cancelled': {
      if (due !== undefined) return [];
      const ended = { ...at, ...timeAt('finished_at', fallback?.['end'] ?? end) };
      return fallback?.state === '$$complete'
        ? [{ ...about, result: fallback['result'] ?? '', error: '', ...ended }]
        : [{ ...about, result: '', error: errorOf(fallback ?? step, step), ...ended }];
    }
  }
}

/** What failed last: a fallback that has not ended says nothing yet. */
function errorOf({ failure }: Line, step: Line): unknown {
  const { message = '' } = (failure ?? step['failure'] ?? {}) as { message?: unknown };
  return message;
}

function timeAt<K extends string>(key: K, at: unknown): { readonly [name in K]?: string } {
  if (typeof at !== 'number') return {};
  return { [key]: new Date(at).toISOString() } as { readonly [name in K]?: string };
}
