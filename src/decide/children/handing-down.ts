import {
  attachmentName,
  attachmentOf,
  attachmentWith,
  mostResultBytes,
  referenceTo,
  toBigResult,
} from '../../model/big-result.js';
import type { FlowSettings, LiveJob } from '../../model/job.js';
import { isOpen, type Step } from '../../model/step.js';
import { contentOf } from '../../reading/attachments.js';
import { countedAt, jobSteps, lastAttempt } from '../../reading/attempts.js';
import type { World } from '../world.js';
import { countOf } from '../../structures/map-slices.js';
import { markAt } from '../../structures/marks.js';
import { leftToParent } from '../../model/flow.js';
import { isWithin } from '../../model/tree.js';
import { isObject } from '../../model/object.js';
import { without } from '../../model/record.js';

/** What a slice of a map gets from its parent. */

/**
 * Returns the flow settings of a slice: what the flow says of its end is left to the parent, and so
 * is its retry except for the delay.
 */
export function settingsFor({ flow_definition }: LiveJob): FlowSettings {
  const { retry } = flow_definition;
  const kept = without(flow_definition, ...leftToParent);
  return typeof retry === 'object' ? { ...kept, retry: { ...retry, limit: 0 } } : kept;
}

/** Returns the parameters of the job without the list that the map goes over. */
export function paramsFor(job: LiveJob, path: string): Pick<LiveJob, 'params'> {
  if (job.params === undefined) return {};
  return { params: withoutList(job.params, listAt(job, path)) as LiveJob['params'] & object };
}

function listAt(job: LiveJob, path: string): readonly unknown[] {
  return (markAt(jobSteps(job), path) as { readonly items: readonly unknown[] }).items;
}

/** The items are there, each for itself: the list that they are from is left out. */
function withoutList(value: unknown, list: readonly unknown[]): unknown {
  const text = JSON.stringify(list);
  const copy = (inner: unknown): unknown => {
    if (Array.isArray(inner)) {
      return inner.length === list.length && JSON.stringify(inner) === text ? undefined : inner;
    }
    if (!isObject(inner)) return inner;
    const kept = Object.entries(inner).map(([key, one]) => [key, copy(one)] as const);
    return Object.fromEntries(kept.filter(([, one]) => one !== undefined));
  };
  return copy(value);
}

/**
 * What was done before a map, with the attachments that hold the results; or the attachments that
 * must be read first.
 */
export type Past =
  | {
      readonly kind: 'known';
      readonly before: readonly Step[];
      readonly attachments: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'unknown'; readonly names: readonly string[] };

/** Shorter results stay in the document in any case. */
const shortBytes = 1_000;

/**
 * Returns what ended outside of a map, with the results that its steps may see. When these are long
 * together, the longer ones become attachments.
 */
export function pastOf(job: LiveJob, path: string, { contents }: Pick<World, 'contents'>): Past {
  const ended = endedOutside(job, path);
  const names = ended.flatMap((step) => attachmentOf(step) ?? []);
  const unknown = names.filter((name) => contentOf(job, contents, name) === undefined);
  if (unknown.length > 0) return { kind: 'unknown', names: unknown };
  const list = listAt(job, path);
  const handed = ended.map((step) => {
    const name = attachmentOf(step);
    const whole = name === undefined ? step.result : contentOf(job, contents, name)?.value;
    const result = step.structure === undefined ? withoutList(whole, list) : markFor(step, path);
    return { step: outlineOf(step), result, json: JSON.stringify(result) ?? '' };
  });
  const sum = handed.reduce((length, { json }) => length + json.length, 0);
  const attachments: Record<string, unknown> = {};
  const before = handed.map(({ step, result, json }): Step => {
    const isShort = sum <= mostResultBytes || json.length <= shortBytes;
    if (result === undefined) return step;
    if (isShort || step.structure !== undefined) return { ...step, result };
    const big = toBigResult(result, json);
    attachments[attachmentName(step)] = attachmentWith(big);
    return { ...step, result: referenceTo(step, big) };
  });
  return { kind: 'known', before, attachments };
}

type Ended = Step & { readonly result?: unknown };

/** The last attempt of each step, and all that was found out about structures. */
function endedOutside(job: LiveJob, path: string): readonly Ended[] {
  const steps: readonly Step[] = [...(job.slice?.before ?? []), ...job.steps];
  return steps.filter((step) => {
    if (isOpen(step) || isWithin(step.path, path)) return false;
    return step.structure === undefined
      ? lastAttempt(job, step.path) === step
      : countedAt(job, step.path).includes(step);
  });
}

/** Of the list of another map only the item matters that is worked on, if it is around this one. */
function markFor({ result, path: at }: Ended, path: string): unknown {
  if (!isObject(result) || !Array.isArray(result['items'])) return result;
  type List = { items: readonly unknown[]; from?: number; count?: number };
  const { items, from = 0, count: _count, ...kept } = result as List;
  const stem = at === '' ? 'map.' : `${at}.map.`;
  if (!path.startsWith(stem)) return { ...kept, count: countOf({ items, ...kept }) };
  const number = Number.parseInt(path.slice(stem.length), 10);
  return { ...kept, items: [items[number - from]], from: number };
}

/** A step without what only its own attempt is interested in. */
function outlineOf(step: Ended): Step {
  const claim = ['params', 'plugin', 'plugin_hash', 'engine', 'pid', 'claim', 'child'] as const;
  const reports = ['details', 'progress', 'log', 'reported', 'blocked_ms', 'result'] as const;
  const kept = step as Step & Readonly<Record<string, unknown>>;
  return without(kept, ...claim, ...reports, 'accepted', 'start', 'child_run');
}
