import type { Outcome } from '../decide/finish/outcome.js';

/** An attempt, for whoever measures or traces it. */
export type AttemptFacts = {
  readonly job: string;
  readonly flow: string;
  readonly owner: string;
  readonly step: string;
  readonly path: string;
  readonly task: string;
  readonly plugin: string;
  readonly attempt: number;
  readonly engine: string;
  /** W3C trace context that the job carries (`traceparent`). */
  readonly trace?: string;
};

/** One attempt under the meter. */
export type AttemptMeter = {
  /** Calls the plugin, inside of whatever the meter keeps around it. */
  readonly run: <T>(call: () => T) => T;
  /** Called once, when the outcome is there. `failure`: the sentence, when it failed. */
  readonly end: (outcome: Outcome['kind'], failure?: string) => void;
};

/**
 * Where an engine reports what can be measured. It knows nothing of who listens, and takes meters that
 * measure only some of it; no meter may throw or wait.
 */
export type EngineMeters = {
  /** A claim of ours that was stored, or that somebody else was faster with. */
  readonly claim: (verdict: 'won' | 'lost') => void;
  /** Undefined: nobody wants to know about this attempt. */
  readonly attempt: (facts: AttemptFacts) => AttemptMeter | undefined;
  /** How long a change took from its writing to us, ms. */
  readonly feedLag: (ms: number) => void;
  /** Grants of rate limits that this engine took. */
  readonly grants: (count: number) => void;
  /** So many jobs that this engine knows wait for that reason now. */
  readonly waiting: (cause: WaitCause, count: number) => void;
  /** Slots of schedules that this engine has decided. */
  readonly slots: (verdict: 'started' | 'skipped' | 'missed', count: number) => void;
  /** How long after its time a slot was decided to start, ms; a jitter of the schedule included. */
  readonly slotDelay: (ms: number) => void;
  /** A notification that was stored: how its job ended, or the alert. */
  readonly notification: (event: string) => void;
  /** Jobs that something started, and what it could not start. */
  readonly triggers: (by: TriggerKind, verdict: 'started' | 'refused', count: number) => void;
};

/**
 * What a job waits for. `rate`: a grant of a rate limit; `permit`: of a limit; `slot`: of this engine; `change`: something else has to happen: an
 * engine that can run it, a definition, the end of a pause, a child job, a signal.
 */
export type WaitCause = 'rate' | 'permit' | 'slot' | 'change';

/** What starts a job beside people, programs and schedules. */
export type TriggerKind = 'event' | 'signal';
