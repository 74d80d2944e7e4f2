/** Who is behind an event: the engine itself, a decider, somebody outside, or the work. */
export type EventLevel = 'service' | 'decider' | 'external' | 'activity';

/**
 * Something that happened in a job, derived from its document. `id` counts from 1 in the order of
 * time. The kinds follow the history events of Amazon SWF under our own words.
 */
export type HistoryEvent = {
  readonly id: number;
  /** Epoch ms. */
  readonly at: number;
  readonly level: EventLevel;
  /** `StepStarted`, `TimerFired`, `SignalReceived`, `JobFailed` … */
  readonly kind: string;
  readonly path?: string;
  /** Name of the step, signal or request. */
  readonly name?: string;
  readonly attempt?: number;
  readonly engine?: string;
  /** Result, failure, data: what came with it. */
  readonly data?: unknown;
  /** In the history of a decider: it happened since its last decision, to the job or to what it began. */
  readonly news?: true;
};
