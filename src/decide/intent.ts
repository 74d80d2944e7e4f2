import type { FinalJob, Job, LiveJob, NewJob } from '../model/job.js';
import type { RetryRequest } from '../model/request.js';
import type { LiveStep } from '../model/step.js';
import type { Acquire, PermitWant, Query } from './queries.js';
import type { PermitHolder } from './world.js';

/** The document of a child job, to be created; one that has ended may be there and go on. */
export type ChildJob =
  | (Omit<NewJob, '_rev'> & { readonly continued_from?: string; readonly continued_start?: number })
  | Omit<LiveJob, '_rev'>
  | (FinalJob & { readonly retry: true | RetryRequest });

/**
 * What to do about a job. `job` is always the whole next document: its writer knows no rule.
 * `because`: the reason, which `tws explain` prints where it has no words of its own.
 */
export type Intent =
  | { readonly kind: 'ignore'; readonly because: string }
  | Wait
  | ({ readonly kind: 'write'; readonly job: Job } & Abandoning & Making)
  | ({
      readonly kind: 'claim';
      readonly job: LiveJob;
      readonly steps: readonly LiveStep[];
    } & Abandoning)
  | ({
      readonly kind: 'spawn';
      readonly job: LiveJob;
      readonly children: readonly ChildJob[];
    } & Abandoning)
  | { readonly kind: 'abort'; readonly claims: readonly string[]; readonly because: string }
  | Query
  | Acquire;

/** A child job that an attempt of a step of its parent gives up. */
export type GivenUp = {
  /** Id of the child. */
  readonly child: string;
  /** The attempt: a child that goes on with its parent can be given up once by each of them. */
  readonly attempt: number | `run-${number}`;
  /** The run of the child for whose end the attempt waited. */
  readonly run: number;
  /** Other `start`s by which the child may know the parent (`also_started`). */
  readonly starts?: unknown;
  /** What is stored where there is no child yet: a job that ends before it begins. */
  readonly instead: ChildJob & { readonly parent: Maker };
};

type Maker = { readonly job: string; readonly step: string; readonly start?: number };

/** Child jobs that the job gives up: they are told so before it is written. */
export type Abandoning = { readonly abandons?: readonly GivenUp[] };

/** Notifications that are made before the revision of the job that names them is written. */
export type Making = { readonly makes?: readonly ChildJob[] };

/** Nothing to do now. `until` (epoch ms): decide again then; without it some change must come first. */
export type Wait = {
  readonly kind: 'wait';
  readonly because: string;
  readonly until?: number;
  /** Nothing but the time can end the wait: nobody needs to keep the job in mind until then. */
  readonly asleep?: true;
  /** No engine that is alive can run what is next. */
  readonly unserved?: true;
  /**
   * Somebody can take the step, only not this engine now: it waits for a slot here, for another
   * engine, for a permit, or for the next window of a rate limit. A new job is left as it is.
   */
  readonly for?: 'slot' | 'engine' | 'permit' | 'rate';
  /** The limits of which it waits for a permit. */
  readonly lines?: readonly PermitLine[];
  /** The limits of which it would ask for a permit, if another engine did not go first. */
  readonly places?: readonly PermitWant[];
  /** With `for: 'slot'`: so many engines come before this one for this step. */
  readonly rank?: number;
  /** With `for: 'slot'`: tasks of which one may run once more must come first. */
  readonly tasks?: readonly TaskSlots[];
};

/** A limit of which a job waits for a permit, and who has them all; empty: others get one first. */
export type PermitLine = {
  readonly key: string;
  readonly title: string;
  readonly most: number;
  readonly by: readonly PermitHolder[];
};

/** A task, by its key, of which an engine runs so many attempts at once at the most. */
export type TaskSlots = { readonly task: string; readonly slots: number };

/** What to do about a job, and the rule that says so, by its name. */
export type Decided = Intent & { readonly rule: string };

/** A move, and the rule that says so. */
export type Ruled = { readonly rule: string; readonly move: Move };

/** One move inside a decision: a changed job to go on from, or the end of the decision. */
export type Move = { readonly kind: 'change'; readonly job: LiveJob | FinalJob } | Intent;

/** What comes of a step that can begin. */
export type Begun =
  | { readonly kind: 'change'; readonly job: LiveJob }
  | Extract<Intent, { kind: 'claim' | 'spawn' }>
  | Query
  | Acquire
  | Wait;
