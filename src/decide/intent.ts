import type { FailureSeen, LiveStep } from '../model/step.js';
import type { BigResult } from '../model/big-result.js';
import type { Flow } from '../model/flow.js';
import type { FinalJob, Job, LiveJob, NewJob } from '../model/job.js';
import type { Problem } from '../model/problems.js';
import type { RetryWish } from '../model/request.js';
import type { Task } from '../model/task.js';

/** A flow or task as the library answers for it. `unknown`: not asked the store yet. */
export type Found<T> =
  | {
      readonly kind: 'found';
      readonly value: T & { readonly _id?: string; readonly _rev?: string };
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] }
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
  { readonly ok: true; readonly problemsOf: (params: unknown) => readonly Problem[] } | Unanswered;

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

/** An event that was announced: a document of its own, with data. */
export type Announced =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'found'; readonly data?: unknown };

/**
 * A lock that a job wants, as a document of the store: asking for it takes it where that is possible.
 * `key` is the target, the pattern, or the flow as `<flow>::<owner>`.
 */
export type LockWish = {
  readonly kind: 'target' | 'pattern' | 'permit';
  readonly id: string;
  readonly key: string;
  /** `database`: it counts for the jobs of all owners. */
  readonly scope?: 'owner' | 'database';
  /** The id under which earlier versions stored the lock: nobody may have that either. */
  readonly formerId?: string;
};

/**
 * What became of it. `taken`: a job that has not ended has it. `contested`: a job that has not begun
 * wants it as well, and the copies of the lock do not say yet which of the two gets it. `invalid`: the
 * pattern is none. `refused`: the store takes no such document.
 */
export type LockAnswer =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'held' }
  | ({ readonly kind: 'taken' } & Rival)
  | ({ readonly kind: 'contested' } & Rival)
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** The job that has a lock. `foreign`: it belongs to another owner, who alone may know its id. */
export type Rival = { readonly by: string; readonly foreign?: true };

/** A permit to run that a job wants: there are `most` of them for the flow `key` (`<flow>::<owner>`). */
export type PermitWish = { readonly key: string; readonly most: number };

/**
 * What became of it. `held`: by the lock of that id. `full`: these jobs have all of them. `behind`:
 * there are some, but for these jobs, which go first.
 */
export type PermitAnswer =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'held'; readonly id: string }
  | { readonly kind: 'full' | 'behind'; readonly by: readonly string[] }
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
    /** How many attempts of a task (by its key) this process has in hand. */
    readonly runningOf: (task: string) => number;
    readonly facts: (plugin: string) => PluginFacts;
    /** Claims of the attempts that this process has in hand. */
    readonly running: ReadonlySet<string>;
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
  readonly flow: (name: string, owner: string) => Found<Flow>;
  readonly task: (name: string, owner: string) => Found<Task>;
  readonly child: (id: string) => Child;
  readonly root: (id: string) => Root;
  readonly subject: (id: string) => SubjectFound;
  /** The address of a job's page, where one is known. */
  readonly linkOf: (job: string) => string | undefined;
  readonly event: (type: string, key: string) => Announced;
  /** The id of the lock document for a text that says what is locked. */
  readonly lockId: (text: string) => string;
  readonly lock: (id: string) => LockAnswer;
  readonly blockers: (target: string) => Blockers;
  readonly permit: (key: string) => PermitAnswer;
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
  /** The wait before a retry where neither task nor flow nor job says one, ms. */
  readonly retryDelayMs: number;
  /** After so many lost attempts of one step it is given up. */
  readonly crashLimit: number;
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

/** A JSONata expression to evaluate before the decision can be made; `id` is the key of its answer. */
export type Question = {
  readonly id: string;
  readonly expression: string;
  readonly context: TemplateContext;
};

/** What must be known first. The caller finds it out and decides again. */
export type LookUp = {
  readonly kind: 'look_up';
  readonly flows: readonly NameAndOwner[];
  readonly tasks: readonly NameAndOwner[];
  readonly children: readonly string[];
  readonly roots: readonly string[];
  readonly subjects: readonly string[];
  readonly events: readonly EventName[];
  /** Locks to take: who asks for them is about to begin the job. */
  readonly locks: readonly LockWish[];
  /** Permits to take: the same holds for them. */
  readonly permits: readonly PermitWish[];
  /** Targets to compare with the patterns of other jobs. */
  readonly targets: readonly string[];
  readonly questions: readonly Question[];
  /** Names of attachments of the job that hold results. */
  readonly attachments: readonly string[];
};
/** An event by its type and key. */
export type EventName = { readonly type: string; readonly key: string };
export type NameAndOwner = { readonly name: string; readonly owner: string };

/** The document of a child job, to be created; one that has ended may be there and go on. */
export type ChildJob =
  | (Omit<NewJob, '_rev'> & { readonly continued_from?: string; readonly continued_start?: number })
  | Omit<LiveJob, '_rev'>
  | (FinalJob & { readonly retry: true | RetryWish });

/**
 * What to do about a job. `job` is always the whole next document: its writer knows no rule.
 * `because` is what `tws explain` prints.
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
  | LookUp;

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

/** Notifications of its end that are made before the job is written. */
export type Making = { readonly makes?: readonly ChildJob[] };

/** Nothing to do now. `until` (epoch ms): decide again then; without it some change must come first. */
export type Wait = {
  readonly kind: 'wait';
  readonly because: string;
  readonly until?: number;
  /** Nothing but the time can end the wait: nobody needs to keep the job in mind until then. */
  readonly asleep?: true;
  /**
   * Somebody can take the step, only not this engine now: it waits for a slot here, for another
   * engine, or for other jobs of its flow to end. A new job is left as it is.
   */
  readonly for?: 'slot' | 'engine' | 'permit';
  /** With `for: 'permit'`: the flow whose jobs are as many as may run. */
  readonly permit?: string;
  /** With `for: 'slot'`: so many engines come before this one for this step. */
  readonly rank?: number;
  /** With `for: 'slot'`: tasks of which one may run once more must come first. */
  readonly tasks?: readonly TaskSlots[];
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
  | LookUp
  | Wait;

export const lookUp = (wanted: Partial<Omit<LookUp, 'kind'>>): LookUp => ({
  kind: 'look_up',
  flows: [],
  tasks: [],
  children: [],
  roots: [],
  subjects: [],
  events: [],
  locks: [],
  permits: [],
  targets: [],
  questions: [],
  attachments: [],
  ...wanted,
});
