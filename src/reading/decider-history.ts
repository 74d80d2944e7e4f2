import type { HistoryEvent } from '../model/history-event.js';
import type { LiveJob } from '../model/job.js';
import type { Step } from '../model/step.js';
import { isWithin } from '../model/tree.js';
import { decisionMaker } from '../structures/paths.js';
import { lastAttempt } from './attempts.js';
import { historyOf } from './history.js';

/**
 * The history that a decision is made upon: that of the job until the attempt began. What has happened since the
 * decision before, to the job or to what this decider began, is marked as `news`.
 */
export function historyForDecision(job: LiveJob, step: Step): readonly HistoryEvent[] {
  const events = historyOf(job, Number(step['start']));
  const isSince = sinceDecision(events, decisionBefore(job, step.path));
  const decider = decisionMaker(step.path);
  const isOurs = ({ path, kind }: HistoryEvent): boolean =>
    path === undefined || (isWithin(path, decider) && !/^(Decision|Marker)/.test(kind));
  return events.map((event) =>
    isSince(event) && isOurs(event) ? { ...event, news: true as const } : event,
  );
}

function decisionBefore(job: LiveJob, path: string): Step | undefined {
  const number = Number(path.slice(path.lastIndexOf('.') + 1));
  return lastAttempt(job, `${decisionMaker(path)}.decision.${number - 1}`);
}

/** A signal of the millisecond in which the decision began may have come after it. */
function sinceDecision(
  events: readonly HistoryEvent[],
  before: Step | undefined,
): (event: HistoryEvent) => boolean {
  if (before === undefined) return () => true;
  const start = Number(before['start']);
  const began = events.findLast(({ at, path }) => at === start && path === before.path);
  return ({ id, at, kind }) =>
    at > start || (at === start && (id > Number(began?.id) || kind === 'SignalReceived'));
}
