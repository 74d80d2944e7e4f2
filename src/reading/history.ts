import { isDecision } from '../structures/paths.js';
import { createDecisionReader } from './decision-events.js';
import type { EventLevel, HistoryEvent } from '../model/history-event.js';
import type { Job } from '../model/job.js';
import { isNew } from '../model/job.js';
import { notificationsOf, notifiesOf, type NotificationMade } from '../model/notify.js';
import { withoutConcealedAnswers } from './form-facts.js';
import type { Step } from '../model/step.js';

/** An event without its number. */
type Draft = Omit<HistoryEvent, 'id'>;

/** The history of a job as ordered events, up to `until` (epoch ms; absent: all of it). */
export function historyOf(job: Job, until = Infinity): readonly HistoryEvent[] {
  const doc: Doc = withoutConcealedAnswers(job);
  // In this order where the times are the same: what was asked for is before what came of it.
  const requests = listIn(doc, 'requests');
  const drafts = [
    ...beginOf(doc, requests),
    ...listIn(doc, 'signals').map(signalEvent),
    ...requests.map(requestEvent),
    ...listIn(doc, 'notes').map(noteEvent),
    ...(isNew(job) ? [] : stepsEvents(listIn(doc, 'steps').map(readable))),
    ...requests.flatMap(({ overrode }) => (isDoc(overrode) ? endOf(overrode) : [])),
    ...endOf(doc),
    ...notificationsOf(doc).map(notificationEvent),
    ...releaseOf(doc),
  ];
  return drafts
    .filter(({ at }) => at <= until)
    .map((draft, order) => ({ draft, order }))
    .toSorted((a, b) => a.draft.at - b.draft.at || a.order - b.order)
    .map(({ draft }, i) => ({ id: i + 1, ...draft }));
}

type Doc = Readonly<Record<string, unknown>>;

function beginOf(doc: Doc, requests: readonly Doc[]): readonly Draft[] {
  const { start, params } = doc;
  return typeof start === 'number'
    ? [
        {
          at: start,
          level: 'service',
          kind: 'JobStarted',
          data: { params: before(params, requests), ...causeOf(doc) },
        },
      ]
    : [];
}

/** What started the job, where it was no person or program. */
function causeOf({ schedule, started_by: by }: Doc): Doc {
  return { ...(isDoc(schedule) && { schedule }), ...(isDoc(by) && { started_by: by }) };
}

/** The parameters before later requests changed them: the last change is taken back first. */
function before(params: unknown, requests: readonly Doc[]): unknown {
  if (!isDoc(params)) return params;
  const first: Record<string, unknown> = { ...params };
  for (const { params_before: replaced } of requests.toReversed()) {
    if (!isDoc(replaced)) continue;
    for (const [key, value] of Object.entries(replaced)) {
      if (value === null) delete first[key];
      else first[key] = value;
    }
  }
  return first;
}

function endOf({ state, end, exit, result, failure }: Doc): readonly Draft[] {
  if (typeof end !== 'number') return [];
  const kind = state === '$$cancelled' ? 'JobCancelled' : exit === 0 ? 'JobCompleted' : 'JobFailed';
  const data =
    exit === 0 ? { exit, ...(result === undefined ? {} : { result }) } : { exit, failure };
  return [{ at: end, level: 'service', kind, data }];
}

function stepsEvents(steps: readonly Step[]): readonly Draft[] {
  const decisionsIn = createDecisionReader(steps);
  return steps.flatMap((step) => [...eventsOf(step), ...decisionsIn(step)]);
}

/** A step as the engine writes it, also where somebody has made something else of it. */
function readable(step: Doc): Step {
  const { path, name, attempt } = step;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  const own = { ...step, path: text(path), name: text(name) };
  return { ...own, ...(typeof attempt === 'number' ? {} : { attempt: 1 }) } as unknown as Step;
}

/** Scheduled, started and closed are three moments, as far as a step has come. */
function eventsOf(step: Step): readonly Draft[] {
  const { path, name, attempt } = step;
  const about = { path, name, attempt };
  const { word, level } = kindOf(step);
  const engine = typeof step['engine'] === 'string' ? { engine: step['engine'] } : {};
  const { accepted, start, remade, end } = step as Doc;
  const isWork = word === 'Step' || word === 'Decision';
  return [
    ...(typeof accepted === 'number' && isWork
      ? [{ at: accepted, level, kind: `${word}Scheduled`, ...about }]
      : []),
    ...(typeof start === 'number'
      ? [{ at: start, level, kind: `${word}Started`, ...about, ...engine }]
      : []),
    ...(typeof remade === 'number'
      ? [{ at: remade, level: 'service' as const, kind: 'ChildMadeAgain', ...about }]
      : []),
    ...(typeof end === 'number'
      ? [
          {
            at: end,
            level,
            kind: `${word}${closing(step, word)}`,
            ...about,
            ...engine,
            ...dataOf(step),
          },
        ]
      : []),
  ];
}

function kindOf(step: Step): { readonly word: string; readonly level: EventLevel } {
  const { child, signal, event, until, structure, path, news } = step;
  if (structure !== undefined) return { word: 'Structure', level: 'decider' };
  if (isDecision(path)) return { word: 'Decision', level: 'decider' };
  if (child !== undefined) return { word: 'Child', level: 'activity' };
  const isWait = signal !== undefined || event !== undefined || news !== undefined;
  if (isWait) return { word: 'Wait', level: 'external' };
  if (until !== undefined) return { word: 'Timer', level: 'service' };
  return { word: 'Step', level: 'activity' };
}

function closing({ state }: Step, word: string): string {
  switch (state) {
    case '$$complete':
      if (word === 'Timer') return 'Fired';
      return word === 'Structure' ? 'Decided' : 'Completed';
    case '$$error':
      return 'Failed';
    case '$$timeout':
      return 'TimedOut';
    case '$$cancelled':
      return 'Cancelled';
    case '$$skipped':
      return 'Skipped';
    case '$$ready':
    case '$$active':
    case '$$waiting':
      return 'Open';
  }
}

function dataOf(step: Step): { readonly data?: unknown } {
  const { result, failure, due, cached } = step as Doc;
  const retry = due === undefined ? {} : { next_attempt: due };
  if (failure !== undefined) return { data: { failure, ...retry } };
  if (cached !== undefined) return { data: { cached, result } };
  return result === undefined ? {} : { data: { result } };
}

function signalEvent({ at, name, data, by }: Doc): Draft {
  return {
    ...external('SignalReceived', at, name),
    ...(data === undefined ? {} : { data: { data, by } }),
  };
}

function requestEvent(record: Doc): Draft {
  const { at, action, by, reason, step, from, params, latest, refused } = record;
  const { edited, withdrawn, to, moved } = record;
  const data = { by, reason, step, from, to, moved, params, latest, edited, withdrawn, refused };
  const kind = refused === undefined ? 'RequestApplied' : 'RequestRefused';
  return { ...external(kind, at, action), data };
}

function noteEvent({ at, by, text }: Doc): Draft {
  return { ...external('NoteAdded', at, undefined), data: { by, text } };
}

/** It was made when the job ended, or was late, stuck or waiting; how it went is in its own history. */
function notificationEvent({ id, at, event }: NotificationMade): Draft {
  const data = event === undefined ? {} : { data: { event } };
  return { at, level: 'service', kind: 'NotificationMade', name: id, ...data };
}

/** Of a notification: what it tells of its subject was found to be stored. */
function releaseOf(doc: Doc): readonly Draft[] {
  const { since: at, job: name } = notifiesOf(doc) ?? {};
  if (at === undefined || name === undefined) return [];
  return [{ at, level: 'service', kind: 'SubjectEnded', name }];
}

function external(kind: string, at: unknown, name: unknown): Draft {
  const named = typeof name === 'string' ? { name } : {};
  return { at: typeof at === 'number' ? at : 0, level: 'external', kind, ...named };
}

function listIn(doc: Doc, key: string): readonly Doc[] {
  const list = doc[key];
  return Array.isArray(list) ? list.filter(isDoc) : [];
}

function isDoc(value: unknown): value is Doc {
  return typeof value === 'object' && value !== null;
}
