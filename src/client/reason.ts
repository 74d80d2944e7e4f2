import type { StoredDocument } from '../model/document.js';
import type { QueueControl } from '../model/queue-control.js';
import type { FormFacts } from '../reading/form-facts.js';
import type { Holder } from './holder.js';
import type { PermitLine } from '../decide/intent.js';
import type { SeenEngine } from './pulse.js';

/** What documents tell around a job; nothing else is needed to say why it stands where it stands. */
export type Seen = {
  readonly job: StoredDocument;
  readonly engines: readonly SeenEngine[];
  /** The flow as it is stored now, when it is. */
  readonly flow?: StoredDocument | undefined;
  /** What is wanted of all engines. */
  readonly engineControl?: StoredDocument | undefined;
  /** What is wanted of its queue. */
  readonly queueControl?: QueueControl | undefined;
  /** Steps in hand by engine, when they were counted. */
  readonly inHand?: ReadonlyMap<string, number> | undefined;
  /** How many of these are of the job and of jobs made with it, for the same root. */
  readonly ownInHand?: number | undefined;
  /** The limits of which it, or a step of it, waits for a permit. */
  readonly lines?: readonly PermitLine[] | undefined;
  /** Where it is in the line of the first of them. */
  readonly place?: string | undefined;
  /** The job that has its key or its target. */
  readonly holder?: Holder | undefined;
  /** The notifications of its end, as far as they are there. */
  readonly notifications?: readonly StoredDocument[] | undefined;
  /** The job that it was made for, when that is there. */
  readonly parent?: StoredDocument | undefined;
  /** Ids of jobs that whoever asks must not learn. */
  readonly hidden?: ReadonlySet<string> | undefined;
  /** Epoch ms. */
  readonly now: number;
};

/**
 * What a job waits for. `soon`: nothing that shows; an engine may take it at any moment. `ending`: the
 * next engine that looks at it ends it. `unreadable`: so it does, because the document is no valid job.
 */
export type ReasonKind =
  | 'ended'
  | 'item'
  | 'notification'
  | 'late'
  | 'parent'
  | 'running'
  | 'engine_lost'
  | 'child'
  | 'waiting'
  | 'paused'
  | 'flow_paused'
  | 'queue_paused'
  | 'flow_missing'
  | 'flow_disabled'
  | 'target_held'
  | 'not_unique'
  | 'unique_period'
  | 'scheduled'
  | 'rate'
  | 'retry'
  | 'no_engine'
  | 'unserved'
  | 'full'
  | 'busy'
  | 'ending'
  | 'unreadable'
  | 'refused'
  | 'problem'
  | 'caught'
  | 'answered'
  | 'soon';

/**
 * One reason. A `problem` holds nothing up. `todo`: what somebody can do about it; absent where waiting
 * is all there is to do.
 */
export type Reason = {
  readonly kind: ReasonKind;
  /** The rule of the engines that decides about the job as it stands (`src/decide/README.md`). */
  readonly rule?: string;
  /** One sentence. */
  readonly because: string;
  readonly todo?: string;
  /** When it is over by itself (epoch ms). */
  readonly until?: number;
  /** The job that is waited for. */
  readonly child?: string;
  /** What it asks or asked of people. */
  readonly form?: FormFacts;
};
