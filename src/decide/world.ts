import type { FailureSeen } from '../model/step.js';
import type { LinkProofs } from '../model/answer-link.js';
import type { BigResult } from '../model/big-result.js';
import { usualCrashLimit } from '../model/engine.js';
import type { AnnouncedEvent } from '../model/event.js';
import type { Flow } from '../model/flow.js';
import type { AmbiguityCause, VersionAsk } from '../model/flow-versions.js';
import type { FinalJob } from '../model/job.js';
import type { ListEntry } from '../model/notify-list.js';
import type { Problem } from '../model/problems.js';
import type { QueueControl } from '../model/queue-control.js';
import type { Task } from '../model/task.js';
import { usualRetry, type RetryDefaults } from '../model/usual-retry.js';

/* What a decision may know beside the job and the time. */

/** A flow or task as the library answers for it. `unknown`: not asked the store yet. */
export type Found<T> =
  | {
      readonly kind: 'found';
      readonly value: T & { readonly _id?: string; readonly _rev?: string };
    }
  /** `versions`: those that there are, of a flow that has not the version which is asked for. */
  | { readonly kind: 'absent'; readonly versions?: readonly string[] }
  | { readonly kind: 'unknown' }
  /** `cause`: of a flow. */
  | {
      readonly kind: 'ambiguous';
      readonly ids: readonly string[];
      readonly cause?: AmbiguityCause;
    }
  | { readonly kind: 'invalid'; readonly id: string; readonly problems: readonly Problem[] };

/** An evaluated JSONata expression. */
export type Answer = { readonly ok: true; readonly value: unknown } | Unanswered;

/** Why a definition cannot be worked with: it is its mistake, which would be made again. */
export type Unanswered = { readonly ok: false; readonly reason: string };

/** A filled-in template tree; `at` is the dotted path of the template that failed. */
export type Rendered =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly at: string; readonly reason: string };

/**
 * A JSON Schema of a definition, made ready. `problemsOf` tells where parameters do not suit it, with
 * paths from `params` on and never with values; what is not known yet (templates, encrypted texts)
 * suits. A schema that is none has a reason.
 */
export type Schema =
  | {
      readonly ok: true;
      readonly problemsOf: (value: unknown, of?: CheckedSubject) => readonly Problem[];
    }
  | Unanswered;

/** What is checked: paths of problems begin with it. */
export type CheckedSubject = 'params' | 'result' | 'data';

/** What a plugin told of itself that matters before it is called. */
export type PluginFacts = {
  /** Names of top-level parameters that it renders itself. */
  readonly templates: readonly string[];
  /** `sha256:<hex>` of its code. */
  readonly hash?: string;
};

/** Another engine, or this one, as far as deciding cares. */
export type Peer = {
  readonly id: string;
  readonly plugins: ReadonlySet<string>;
  readonly labels: ReadonlySet<string>;
  /** The queues it takes steps from. */
  readonly queues: ReadonlySet<string>;
};

/** A child job as its parent sees it. */
export type Child =
  | { readonly kind: 'unknown' }
  /** `deleted`: there was a document of this id, which somebody deleted. */
  | { readonly kind: 'absent'; readonly deleted?: true }
  /** A document that was not made for this job has the id. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'live' }
  /** `big`: its result, when that goes into an attachment of the parent. */
  | { readonly kind: 'final'; readonly job: FinalJob; readonly big?: BigResult };

/** The job that a notification tells of, as it is stored. */
export type SubjectFound =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'there';
      readonly doc: Readonly<Record<string, unknown>> & { readonly _id: string };
    };

/** The job for which, in the end, a job was made; `live`: also one that is not there. */
export type Root = 'unknown' | 'live' | 'final' | 'crowded';

/** A result that is kept for steps with the same key. `big`: when it goes into an attachment. */
export type CachedFound =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'found';
      /** Which step made it, and when (epoch ms). */
      readonly from: { readonly job: string; readonly path: string; readonly at: number };
      readonly until: number;
      readonly result?: unknown;
      readonly big?: BigResult;
    };

/** The events of one type and key that live: documents of their own, with data. */
export type Announced =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'found'; readonly events: readonly AnnouncedEvent[] };

/**
 * What became of it. `held`: a permit with the `nonce` of its lock, unless the job had it before. `taken`: a job that
 * has not ended has it. `contested`: a job that has not begun wants it as well, and the copies of the lock
 * do not say yet which of the two gets it. `replacing`: the job has it, and begins when the other one, which
 * was asked to cancel, has ended; `replaced`: the other one takes the place of the job. `invalid`: the
 * pattern is none. `refused`: the store takes no such document.
 */
export type LockAnswer =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'held'; readonly nonce?: string }
  | ({ readonly kind: 'taken' } & Rival)
  | ({ readonly kind: 'contested' } & Rival)
  | ({ readonly kind: 'replacing' } & Rival)
  | ({ readonly kind: 'replaced' } & Rival)
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** The job that has a lock. `foreign`: it belongs to another owner, who alone may know its id. */
export type Rival = { readonly by: string; readonly foreign?: true };

/** Who has a permit of a limit: a job, or an attempt of a step of it. */
export type PermitHolder = {
  readonly job: string;
  readonly step?: string;
  /** Since when (epoch ms). */
  readonly at: number;
  /** Names this taking of the permit. */
  readonly nonce: string;
  /** Id of the lock document. */
  readonly lock: string;
  /** For whom it was asked to cancel. */
  readonly wantedBy?: string;
  /** Its job is being cancelled. */
  readonly cancelling?: true;
  /** Its job does not list the permit yet, and may give it back. */
  readonly undecided?: true;
  /** Its job is one that the asking one was made for, or a slice of the same map. */
  readonly kin?: true;
  /** Its job came after the asking one, as far as this engine saw both. */
  readonly newer?: true;
  /** Its job belongs to another owner, who alone may know its id. */
  readonly foreign?: true;
};

/**
 * What became of it. `held`: by the locks of these ids, in the order in which they were asked for; `anew`: the
 * nonces of those that were taken just now, by id.
 * `full`: of the limit `key` these have all permits. `behind`: it has some, but for these jobs, which
 * go first.
 */
export type PermitAnswer =
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'held';
      readonly ids: readonly string[];
      readonly anew?: ReadonlyMap<string, string>;
    }
  | { readonly kind: 'full'; readonly key: string; readonly by: readonly PermitHolder[] }
  | { readonly kind: 'behind'; readonly key: string; readonly by: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** A grant: the document that holds it, and whose it is. */
export type GrantName = { readonly id: string; readonly for: string };

/** What became of it. `full`: it may be asked for again at `until` (epoch ms). */
export type RateAnswer =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'held' }
  | { readonly kind: 'full'; readonly until: number }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * A job that has not ended and whose pattern matches a target. `at`: when the pattern was stored
 * (epoch ms). `decided`: it has begun; else it may yet be refused itself.
 */
export type Blocker = {
  readonly job: string;
  readonly at: number;
  readonly decided: boolean;
  /** It belongs to another owner, who alone may know its id. */
  readonly foreign?: true;
};

/** The other jobs whose patterns match a target; `own`: when the pattern of the job was stored. */
export type Blockers =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'known'; readonly own?: number; readonly all: readonly Blocker[] };

/**
 * Everything a decision may know beside the job and the time. A snapshot of values and pure
 * look-ups: the same job, time and world give the same intent.
 */
export type World = {
  readonly me: Peer & {
    readonly pid: number;
    readonly freeSlots: number;
    /** How many of so many free slots the job may take; the others are for jobs that go before it. */
    readonly share: (wanted: number) => number;
    /** How many attempts of a task (by its key) this process has in hand. */
    readonly runningOf: (task: string) => number;
    readonly facts: (plugin: string) => PluginFacts;
    /** Claims of the attempts that this process has in hand. */
    readonly running: Pick<ReadonlySet<string>, 'has'>;
    /** Those of them that were told to stop. */
    readonly stopping: ReadonlySet<string>;
    /** Claims that this process made and never started: they came into the document late. */
    readonly unbegun: Pick<ReadonlySet<string>, 'has'>;
    /** Claims whose end it has stored: whatever shows them running is out of date. */
    readonly ended: Pick<ReadonlySet<string>, 'has'>;
  };
  /**
   * When this process first saw this revision of the job, by the clock of `now`. `-Infinity`: it has
   * just settled it and goes on at once.
   */
  readonly seenAt: number;
  /** Fresh for this decision; becomes part of the claims it makes. */
  readonly nonce: string;
  /** The other engines that are alive. */
  readonly peers: readonly Peer[];
  readonly lease: (engine: string, pid?: number) => 'alive' | 'dead';
  /** What is wanted of a queue; undefined: nothing. */
  readonly queueControl: (queue: string) => QueueControl | undefined;
  /** The entries of notify lists for the jobs of an owner. */
  readonly notifyLists: (owner: string) => readonly ListEntry[];
  /** The queues that a rate limits. */
  readonly ratedQueues: ReadonlySet<string>;
  /** The version of a flow that is asked for; without `ask` the current one. */
  readonly flow: (name: string, owner: string, ask?: VersionAsk) => Found<Flow>;
  readonly task: (name: string, owner: string) => Found<Task>;
  readonly child: (id: string) => Child;
  readonly root: (id: string) => Root;
  readonly subject: (id: string) => SubjectFound;
  /** The address of a job's page, where one is known. */
  readonly linkOf: (job: string) => string | undefined;
  /** What makes links by which people answer; undefined: nothing does. */
  readonly answerLinks: LinkProofs | undefined;
  readonly event: (type: string, key: string) => Announced;
  /** By the id of its document. */
  readonly cached: (id: string) => CachedFound;
  /** The id of the lock document for a text that says what is locked. */
  readonly lockId: (text: string) => string;
  readonly lock: (id: string) => LockAnswer;
  readonly blockers: (target: string) => Blockers;
  /** By the id of the request. */
  readonly permit: (id: string) => PermitAnswer;
  /** The nonces of the permits whose holders were asked to cancel in this decision. */
  readonly displaced: ReadonlySet<string>;
  readonly rate: (request: GrantName) => RateAnswer;
  readonly answers: ReadonlyMap<string, Answer>;
  /** Why something that the decision asked for cannot be found out now. */
  readonly unanswered?: string;
  /** Results that are kept as attachments of the job, by the attachment's name. */
  readonly contents: ReadonlyMap<string, unknown>;
  readonly render: (
    params: Readonly<Record<string, unknown>>,
    context: TemplateContext,
    untouched: readonly string[],
  ) => Rendered;
  readonly schema: (schema: Readonly<Record<string, unknown>>) => Schema;
  /** How long retries wait where neither task nor flow nor job says so. */
  readonly retry: RetryDefaults;
  /** After so many lost attempts of one step it is given up. */
  readonly crashLimit: number;
};

const unknown = () => ({ kind: 'unknown' }) as const;
const none: ReadonlySet<string> = new Set();

/**
 * A world of which nothing is known and in which nothing can be done: no plugin, no slot, no engine that
 * lives. Templates stay as they are, and schemas suit everything.
 */
export const unknownWorld: World = {
  me: {
    id: 'nobody',
    pid: 0,
    plugins: none,
    labels: none,
    queues: none,
    freeSlots: 0,
    share: (wanted) => wanted,
    runningOf: () => 0,
    facts: () => ({ templates: [] }),
    running: none,
    stopping: none,
    unbegun: none,
    ended: none,
  },
  // It waits for no other engine.
  seenAt: -Infinity,
  nonce: '',
  peers: [],
  lease: () => 'dead',
  queueControl: () => undefined,
  notifyLists: () => [],
  ratedQueues: new Set(),
  flow: unknown,
  task: unknown,
  child: unknown,
  root: () => 'unknown',
  subject: unknown,
  linkOf: () => undefined,
  answerLinks: undefined,
  event: unknown,
  cached: unknown,
  lockId: (text) => text,
  lock: unknown,
  blockers: unknown,
  permit: unknown,
  displaced: new Set(),
  rate: unknown,
  answers: new Map(),
  contents: new Map(),
  render: (params) => ({ ok: true, value: { ...params } }),
  schema: () => ({ ok: true, problemsOf: () => [] }),
  retry: usualRetry,
  crashLimit: usualCrashLimit,
};

/** What templates and conditions see. */
export type TemplateContext = {
  readonly job: Readonly<Record<string, unknown>>;
  readonly step: Readonly<Record<string, unknown>>;
  readonly params: Readonly<Record<string, unknown>>;
  readonly results: Readonly<Record<string, unknown>>;
  readonly parent_results: Readonly<Record<string, unknown>>;
  /** What failed, for handlers, undo tasks, callbacks and the cancel branch. */
  readonly failure?: FailureSeen;
  /** What a map or a loop adds: `item` and the name it has there, `index`, `round`. */
  readonly [name: string]: unknown;
};
