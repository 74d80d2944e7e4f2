import type { StoredDocument } from '../model/document.js';
import { isObject } from '../model/object.js';
import { textOf } from '../words.js';

/** A line that an attempt of a step logged. */
export type JobLogLine = {
  /** Epoch ms. */
  readonly at: number;
  readonly step: string;
  readonly path: string;
  readonly attempt: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
};

/** Whether a step is meant: by its name, its `<task>-<n>` state or its path. */
export type IsMeant = (step: { readonly name: string; readonly path: string }) => boolean;

/**
 * The lines that the steps of a job keep, by time. A step keeps its newest lines only. Reads malformed
 * jobs as well.
 */
export function jobLog(job: StoredDocument, isMeant: IsMeant): readonly JobLogLine[] {
  return logsOf(job, isMeant)
    .flatMap(({ lines }) => lines)
    .toSorted((a, b) => a.at - b.at);
}

/** Returns from each revision of a job the lines that no earlier one had. */
export function createNewLines(isMeant: IsMeant): (job: StoredDocument) => readonly JobLogLine[] {
  /** The last line of each attempt, by its place in `steps`: lines before it may be gone by now. */
  const last = new Map<number, string>();
  return (job) =>
    logsOf(job, isMeant)
      .flatMap(({ index, lines }) => {
        const texts = lines.map((line) => JSON.stringify(line));
        const known = last.get(index);
        const from = known === undefined ? 0 : texts.lastIndexOf(known) + 1;
        const newest = texts.at(-1);
        if (newest !== undefined) last.set(index, newest);
        return lines.slice(from);
      })
      .toSorted((a, b) => a.at - b.at);
}

type AttemptLog = { readonly index: number; readonly lines: readonly JobLogLine[] };

function logsOf(job: StoredDocument, isMeant: IsMeant): readonly AttemptLog[] {
  const steps: readonly unknown[] = Array.isArray(job['steps']) ? job['steps'] : [];
  return steps.flatMap((step, index) => {
    if (!isObject(step) || !Array.isArray(step['log'])) return [];
    const { name, task, path, attempt } = step;
    const about = {
      step: textOf(name ?? task ?? ''),
      path: textOf(path ?? ''),
      attempt: typeof attempt === 'number' ? attempt : 1,
    };
    if (!isMeant({ name: about.step, path: about.path })) return [];
    const lines = (step['log'] as readonly unknown[]).flatMap((line) => lineOf(line, about));
    return [{ index, lines }];
  });
}

function lineOf(
  line: unknown,
  about: Pick<JobLogLine, 'step' | 'path' | 'attempt'>,
): readonly JobLogLine[] {
  if (!isObject(line) || typeof line['at'] !== 'number') return [];
  const { at, message, data } = line;
  return [{ at, ...about, message: textOf(message ?? ''), ...(isObject(data) ? { data } : {}) }];
}
