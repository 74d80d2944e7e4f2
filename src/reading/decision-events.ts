import { toDecisions, type Decision } from '../model/decisions.js';
import type { Step } from '../model/step.js';

/** What a decision came to beside the steps that it begins. */
export type DecisionEvent = EventFacts & {
  /** Epoch ms. */
  readonly at: number;
  readonly level: 'decider';
  /** Path of the decision. */
  readonly path: string;
};

/** Tells what the decisions of a job come to beside the steps that they begin. */
export type DecisionReader = (step: Step) => readonly DecisionEvent[];

/**
 * Reads the decisions of a job, which must come in their order: a marker is noted down; a decision to
 * begin something under an id that is taken, or to cancel what is not under way, is refused.
 */
export function createDecisionReader(steps: readonly Step[]): DecisionReader {
  const last = new Map(steps.map((step) => [step.path, step]));
  const taken = new Map<string, Begun>();
  return (step) => {
    const { path, state, end: at, result } = step;
    const [, decider, number] = /^(.*)\.decision\.(\d+)$/.exec(path) ?? [];
    if (decider === undefined || state !== '$$complete' || typeof at !== 'number') return [];
    // The first decision again: the decider began anew, and so do its ids.
    const begun = (number === '0' ? undefined : taken.get(decider)) ?? new Begun();
    taken.set(decider, begun);
    const isOver = (begunPath: string): boolean => hasEnded(last.get(begunPath), at);
    const answered = toDecisions(result);
    return (answered.ok ? answered.decisions : []).flatMap((decision): readonly DecisionEvent[] => {
      const event = eventOf(decision, { decider, begun, isOver });
      return event === undefined ? [] : [{ at, level: 'decider', path, ...event }];
    });
  };
}

/** It ended before the moment, or in it without having been cancelled. */
function hasEnded(step: Step | undefined, at: number): boolean {
  if (step === undefined || !('end' in step)) return false;
  const end = Number(step.end);
  return end < at || (end === at && step.state !== '$$cancelled');
}

/** Paths of what was begun; by an id alone the first. */
class Begun {
  readonly paths = new Set<string>();
  readonly byId = new Map<string, string>();
}

type Known = {
  readonly decider: string;
  /** Paths of what earlier decisions began; this one's are added. */
  readonly begun: Begun;
  readonly isOver: (path: string) => boolean;
};

type EventFacts = { readonly kind: string; readonly name: string; readonly data?: unknown };

function eventOf(decision: Decision, { decider, begun, isOver }: Known): EventFacts | undefined {
  const {
    record_marker: marker,
    details,
    cancel,
    id,
  } = decision as Readonly<Record<string, unknown>>;
  if (typeof marker === 'string') {
    return {
      kind: 'MarkerRecorded',
      name: marker,
      ...(details === undefined ? {} : { data: details }),
    };
  }
  if (typeof cancel === 'string') {
    const there = begun.byId.get(cancel);
    if (there !== undefined && !isOver(there)) return undefined;
    const reason = there === undefined ? 'Nothing of this id was begun.' : 'It had ended.';
    return { kind: 'CancelRefused', name: cancel, data: { reason } };
  }
  const kind = kindOf(decision);
  if (kind === undefined || typeof id !== 'string') return undefined;
  const path = `${decider}.${kind}.${id}`;
  if (begun.paths.has(path)) {
    return { kind: 'StartRefused', name: id, data: { reason: `There is a ${kind} of this id.` } };
  }
  begun.paths.add(path);
  if (!begun.byId.has(id)) begun.byId.set(id, path);
  return undefined;
}

function kindOf(decision: Decision): string | undefined {
  if ('schedule' in decision) return 'activity';
  if ('start_child' in decision) return 'child';
  return 'start_timer' in decision ? 'timer' : undefined;
}
