import type { StoredDocument } from '../model/document.js';
import { closest } from '../model/closest.js';
import { isObject } from '../model/object.js';
import { asSentence, shortened } from '../words.js';
import type { JobReading } from '../reading/read-job.js';
import type { StepReading } from '../reading/step-reading.js';
import { repetitionsAround } from '../structures/paths.js';
import type { Reason } from './reason.js';

/** How a job ended; of a failed one also why and where, which items of a map failed, and what to do. */
export function endReasons(
  job: StoredDocument,
  { status, steps }: JobReading,
): readonly [Reason, ...Reason[]] {
  const { failure, retry_refused: refused } = job;
  if (status === 'succeeded' && typeof refused !== 'string') {
    return [{ kind: 'ended', because: 'It has ended: succeeded.' }];
  }
  const { message, step } = isObject(failure) ? failure : {};
  const failed = steps.findLast(
    ({ name, path, failed: isFailed }) => (name === step || path === step) && isFailed,
  );
  // Of a structure there is an entry for each thing that was found out.
  const attempts = steps.filter(
    ({ path, structure }) => path === failed?.path && structure === undefined,
  );
  const times = attempts.length > 1 ? ` after ${attempts.length} attempts` : '';
  const at = typeof step === 'string' ? ` at step "${step}"${times}` : '';
  const why = typeof message === 'string' ? `: ${message}` : '';
  const refusedRetry =
    typeof refused === 'string' ? ` Its retry was refused: ${asSentence(refused)}` : '';
  const because = `${asSentence(`It has ended: ${status}${at}${why}`)}${refusedRetry}`;
  if (status !== 'failed') return [{ kind: 'ended', because }];
  return [{ kind: 'ended', because, todo: todoOf(job, failed) }, ...itemReasons(job, steps)];
}

/** Failures of parameters: other ones let the job succeed. */
const ofParams: readonly unknown[] = ['ParamsInvalid', 'ParamsUnfit', 'TemplateError'];

function todoOf(job: StoredDocument, failed: StepReading | undefined): string {
  const { _id: id, failure } = job;
  const todo = `When the cause is fixed, continue the job with \`tws retry ${id}\`.`;
  const { name, message } = isObject(failure) ? failure : {};
  if (!ofParams.includes(name)) return todo;
  const withParams = (params: string): string =>
    `${todo} With other parameters: \`tws retry ${id} --params '${params}'\`.`;
  if (name !== 'TemplateError') {
    return withParams(
      failed === undefined
        ? '{"NAME": VALUE}'
        : `{${JSON.stringify(failed.name)}: {"NAME": VALUE}}`,
    );
  }
  const missing = missingParam(job, String(message));
  if (missing === undefined) {
    return `Correct the template in the flow or the task, and continue the job with \`tws retry ${id} --latest\`.`;
  }
  const { params } = job;
  const close = closest(missing, Object.keys(isObject(params) ? params : {}));
  const meant =
    close === undefined
      ? ''
      : ` The job has "${close}": if that was meant, correct the template, and continue with \`tws retry ${id} --latest\`.`;
  return `${withParams(`{${JSON.stringify(missing)}: VALUE}`)}${meant}`;
}

/**
 * The parameter of the job that a template did not find. A template that is one path names all of it; a longer
 * one only the last part, whose path stands in the templates of the job.
 */
function missingParam({ params, tasks, definitions }: StoredDocument, message: string) {
  const [, whole, part] = /there is no "(?:job\.params\.([^".]+)|([^".]+))/.exec(message) ?? [];
  if (whole !== undefined || part === undefined) return whole;
  const templates = JSON.stringify([params, tasks, definitions]);
  return templates.includes(`job.params.${part}`) ? part : undefined;
}

/** So many failed items are told. */
const shownItems = 5;
const longestItem = 60;
const longestFailure = 200;

/**
 * The items of maps that failed in the last run, where that are several: the failure of the job tells of one.
 * What failed before was begun anew, or is not in the list any more.
 */
function itemReasons(job: StoredDocument, steps: readonly StepReading[]): readonly Reason[] {
  const last = new Map<string, StepReading>();
  for (const step of steps) if (step.structure === undefined) last.set(step.path, step);
  const failed = [...last.values()].filter(
    (step) => step.failed && step.state !== '$$cancelled' && step.run === (job['run'] ?? 1),
  );
  const items = failed.flatMap((step) => {
    const around = mapAround(step.path);
    return around === undefined ? [] : [{ step, around }];
  });
  if (items.length < 2) return [];
  const told = items
    .slice(0, shownItems)
    .map(({ step, around }) => itemSentence(job, step, { around, steps }));
  const left = items.length - shownItems;
  const more = left > 0 ? [`${left} more: see \`tws history ${job._id}\`.`] : [];
  return [...told, ...more].map((because) => ({ kind: 'item', because }));
}

type Around = ReturnType<typeof repetitionsAround>[number];

function mapAround(path: string): Around | undefined {
  return repetitionsAround(path).findLast(({ item }) => /(?:^|\.)map\.\d+$/.test(item));
}

function itemSentence(
  { steps: stored }: StoredDocument,
  { failure = 'no reason given' }: StepReading,
  { around, steps }: { readonly around: Around; readonly steps: readonly StepReading[] },
): string {
  const { number } = around;
  const mark = steps.findLast((one) => one.path === around.path && one.structure === 'map');
  const found = mark && (stored as readonly { readonly result?: unknown }[])[mark.place]?.result;
  const value = isObject(found) ? valueIn(found, number) : undefined;
  const shown = value === undefined ? '' : ` (${shortened(JSON.stringify(value), longestItem)})`;
  return asSentence(`Item ${number}${shown}: ${shortened(failure, longestFailure)}`);
}

function valueIn({ items, from }: Readonly<Record<string, unknown>>, number: number): unknown {
  return Array.isArray(items)
    ? (items as readonly unknown[])[number - Number(from ?? 0)]
    : undefined;
}
