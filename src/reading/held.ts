import type { LiveJob } from '../model/job.js';
import { isFailed, type Step } from '../model/step.js';

/**
 * Time that does not count for the flow's timeout in mode `start`, up to `now` (epoch ms): what the
 * job has on record (before it began, pauses, the wait before a further run), and the time in which
 * steps waited or stood before their next attempt while nothing else of the job ran.
 */
export function heldMs(job: LiveJob, now: number): number {
  const began = job.steps.find((step) => 'start' in step)?.['start'];
  const from = Math.max(typeof began === 'number' ? began : Infinity, job.timed_from ?? 0);
  return (job.held_ms ?? 0) + waitedMs(job.steps, from, now);
}

type Span = readonly [from: number, to: number];

/** What was worked out last of a list of steps, which is replaced, never changed. */
const known = new WeakMap<readonly Step[], Waited>();

type Waited = { readonly from: number; readonly to: number; readonly ms: number };

/**
 * How long, between two times, something waited and nothing ran. Every step that waits for an engine
 * asks for it: one pass over the steps answers them all.
 */
export function waitedMs(steps: readonly Step[], from: number, to: number): number {
  const last = known.get(steps);
  if (last?.from === from && last.to === to) return last.ms;
  const ms = addUpWaits(steps, from, to);
  known.set(steps, { from, to, ms });
  return ms;
}

function addUpWaits(steps: readonly Step[], from: number, to: number): number {
  const waits = steps.flatMap((step) => waitOf(step, to));
  if (waits.length === 0) return 0;
  const runs = steps.flatMap((step) => runOf(step, to));
  const clip = ([a, b]: Span): Span => [Math.max(a, from), Math.min(b, to)];
  const waited = joined(waits.map(clip));
  return lengthOf(waited) - overlap(waited, joined(runs.map(clip)));
}

/** Since when a step waits or waited; a plugin may have it wait after a while. */
function waitedFrom(step: Step): number | undefined {
  const { since, accepted, claim, start } = step as Readonly<Record<string, unknown>>;
  if (typeof since === 'number') return since;
  return claim === undefined && start !== undefined ? Number(accepted ?? start) : undefined;
}

function waitOf(step: Step, now: number): readonly Span[] {
  const from = waitedFrom(step);
  const end = 'end' in step ? (step.end as number) : now;
  return [
    ...(from === undefined ? [] : [[from, end] as const]),
    ...(isFailed(step) && step.due !== undefined ? [[step.end, step.due] as const] : []),
  ];
}

/** While an engine had it. */
function runOf(step: Step, now: number): readonly Span[] {
  const { since, accepted, claim } = step as Readonly<Record<string, unknown>>;
  if (claim === undefined || typeof accepted !== 'number') return [];
  const end = 'end' in step ? (step.end as number) : now;
  return [[accepted, typeof since === 'number' ? since : end]];
}

/** The same times as spans that do not touch, in order. */
function joined(spans: readonly Span[]): readonly Span[] {
  const sorted = spans.filter(([a, b]) => b > a).toSorted((a, b) => a[0] - b[0]);
  const all: [number, number][] = [];
  for (const [from, to] of sorted) {
    const last = all.at(-1);
    if (last === undefined || from > last[1]) all.push([from, to]);
    else last[1] = Math.max(last[1], to);
  }
  return all;
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, [from, to]) => sum + to - from, 0);
}

/** How long both of two lists of joined spans cover. */
function overlap(some: readonly Span[], others: readonly Span[]): number {
  let sum = 0;
  let i = 0;
  let k = 0;
  while (i < some.length && k < others.length) {
    const [a, b] = some[i] as Span;
    const [c, d] = others[k] as Span;
    sum += Math.max(0, Math.min(b, d) - Math.max(a, c));
    if (b < d) i += 1;
    else k += 1;
  }
  return sum;
}
