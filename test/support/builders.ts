import type { ListEntry } from '../../src/model/notify-list.js';
import { usualRetry } from '../../src/model/usual-retry.js';
import type { QueueControl } from '../../src/model/queue-control.js';
import type {
  Announced,
  CachedFound,
  Answer,
  Blockers,
  Child,
  Found,
  LockAnswer,
  Peer,
  PermitAnswer,
  Root,
  SubjectFound,
  World,
} from '../../src/decide/world.js';
import { initialise } from '../../src/decide/start/initialise.js';
import { renderParams } from '../../src/evaluate/expressions.js';
import { readSchema } from '../../src/evaluate/schemas.js';
import { toFlow } from '../../src/reading/dialects.js';
import { branchesOf, handlerOf, type Flow } from '../../src/model/flow.js';
import { chooseVersion, type VersionAsk } from '../../src/model/flow-versions.js';
import type { WrittenFlow } from '../../src/reading/documents.js';
import { isLiveJob, type LiveJob, type NewJob } from '../../src/model/job.js';
import type { Task } from '../../src/model/task.js';
import { leavesOf } from '../../src/structures/tree.js';
import { namesTask } from '../../src/model/tree.js';
import type { WrittenNode } from '../../src/structures/kind.js';

/** The moment at which stories of tests begin (epoch ms). */
export const t0 = Date.UTC(2026, 0, 1);

/** A task document; its plugin bears its name. */
export function task(name: string, more: Partial<Task> = {}): Task {
  return { type: 'task', name, ...more };
}

/** What a flow may be given beside its tasks, as users write it. */
export type FlowOptions = Partial<Omit<WrittenFlow, 'tasks' | 'type'>>;

/** A flow document in the form of the inside, from any way to write `tasks`. */
export function flow(tasks: WrittenNode[], more: FlowOptions = {}): Flow & { _rev: string } {
  const written = { type: 'flow', name: 'f', owner: 'DEFAULT', tasks, ...more };
  return { ...toFlow(written as WrittenFlow), _rev: '3-flow' };
}

/** A job as it was just submitted. */
export function newJob(more: Partial<NewJob> & Record<string, unknown> = {}): NewJob {
  return { _id: 'j', _rev: '1-new', type: 'job', flow: 'f', ...more };
}

/** Fields of the world that tests set; everything else has a friendly default. */
export type WorldOptions = {
  readonly id?: string;
  readonly pid?: number;
  readonly freeSlots?: number;
  /** How many of the free slots the job may take; absent: all that it wants. */
  readonly share?: number;
  /** Attempts of tasks that run here, by key. */
  readonly runningOf?: Readonly<Record<string, number>>;
  /** Plugins of this engine; absent: the plugins of all tasks of the world. */
  readonly plugins?: readonly string[];
  readonly labels?: readonly string[];
  /** Queues that this engine serves; absent: "default". */
  readonly queues?: readonly string[];
  readonly running?: readonly string[];
  readonly stopping?: readonly string[];
  readonly unbegun?: readonly string[];
  readonly ended?: readonly string[];
  readonly templates?: readonly string[];
  /** Of every plugin: `sha256:<hex>`. */
  readonly hash?: string;
  readonly seenAt?: number;
  readonly nonce?: string;
  readonly peers?: readonly Peer[];
  /** Engines whose lease is over. */
  readonly dead?: readonly string[];
  readonly flows?: readonly Flow[];
  readonly tasks?: readonly Task[];
  /** Answers of the library that are not simply `found`, by kind and name. */
  readonly flow?: World['flow'];
  readonly task?: (name: string, owner: string) => Found<Task>;
  readonly children?: Readonly<Record<string, Child>>;
  readonly answers?: Readonly<Record<string, Answer>>;
  readonly unanswered?: string;
  /** Announced events by `type:key`; others are absent. */
  readonly events?: Readonly<Record<string, Announced>>;
  /** Results that are kept, by their ids; others are absent. */
  readonly cached?: Readonly<Record<string, CachedFound>>;
  /** What became of locks, by id (`lock:<text>`); others are held. */
  readonly locks?: Readonly<Record<string, LockAnswer>>;
  /** Jobs whose patterns match a target, by target; others match nothing. */
  readonly blockers?: Readonly<Record<string, Blockers>>;
  /** Jobs at the top of the tree of the job, by id. */
  readonly roots?: Readonly<Record<string, Root>>;
  /** Jobs that notifications tell of, by id. */
  readonly subjects?: Readonly<Record<string, SubjectFound>>;
  readonly linkOf?: (job: string) => string;
  readonly answerLinks?: World['answerLinks'];
  /** Permits, by the id of the request. */
  readonly permits?: Readonly<Record<string, PermitAnswer>>;
  /** Nonces of permits whose holders were asked to cancel. */
  readonly displaced?: readonly string[];
  /** Results that are kept as attachments, by name. */
  readonly contents?: Readonly<Record<string, unknown>>;
  readonly rate?: World['rate'];
  readonly queueControls?: Readonly<Record<string, QueueControl>>;
  readonly notifyLists?: readonly ListEntry[];
  readonly render?: World['render'];
  /** Default: retries begin at once. */
  readonly retry?: Partial<World['retry']>;
  readonly crashLimit?: number;
};

/**
 * The world of one decision. Without more, this engine is `me`, has every plugin and a free slot,
 * knows the given flows and tasks and nothing else, and renders templates for real.
 */
export function world(options: WorldOptions = {}): World {
  const { flows = [], tasks = [], dead = [], children = {}, answers = {} } = options;
  const plugins = options.plugins ?? tasks.map(({ name, plugin }) => plugin ?? name);
  return {
    me: {
      id: options.id ?? 'me',
      pid: options.pid ?? 1,
      plugins: new Set(plugins),
      labels: new Set(options.labels),
      queues: new Set(options.queues ?? ['default']),
      freeSlots: options.freeSlots ?? 1,
      share: (wanted) => Math.min(wanted, options.share ?? Infinity),
      runningOf: (key) => options.runningOf?.[key] ?? 0,
      facts: () => ({
        templates: options.templates ?? [],
        ...(options.hash === undefined ? {} : { hash: options.hash }),
      }),
      running: new Set(options.running),
      stopping: new Set(options.stopping),
      unbegun: new Set(options.unbegun),
      ended: new Set(options.ended),
    },
    seenAt: options.seenAt ?? -Infinity,
    nonce: options.nonce ?? 'nonce',
    peers: options.peers ?? [],
    lease: (engine) => (dead.includes(engine) ? 'dead' : 'alive'),
    queueControl: (queue) => options.queueControls?.[queue],
    notifyLists: () => options.notifyLists ?? [],
    ratedQueues: new Set(
      Object.values(options.queueControls ?? {}).flatMap(({ queue, rate }) =>
        rate ? [queue] : [],
      ),
    ),
    flow: options.flow ?? ((name, owner, ask) => flowIn(flows, name, owner, ask)),
    task: options.task ?? ((name, owner) => foundIn(tasks, name, owner)),
    child: (id) => children[id] ?? { kind: 'unknown' },
    root: (id) => options.roots?.[id] ?? 'unknown',
    subject: (id) => options.subjects?.[id] ?? { kind: 'unknown' },
    linkOf: (job) => options.linkOf?.(job),
    answerLinks: options.answerLinks,
    event: (type, key) => options.events?.[`${type}:${key}`] ?? { kind: 'absent' },
    cached: (id) => options.cached?.[id] ?? { kind: 'absent' },
    lockId: (text) => `lock:${text}`,
    lock: (id) => options.locks?.[id] ?? { kind: 'held' },
    blockers: (target) => options.blockers?.[target] ?? { kind: 'known', all: [] },
    permit: (id) => options.permits?.[id] ?? { kind: 'unknown' },
    displaced: new Set(options.displaced),
    rate: (request) => options.rate?.(request) ?? { kind: 'unknown' },
    answers: new Map(Object.entries(answers)),
    ...(options.unanswered === undefined ? {} : { unanswered: options.unanswered }),
    contents: new Map(Object.entries(options.contents ?? {})),
    render: options.render ?? renderParams,
    schema: readSchema,
    retry: { ...usualRetry, delay: 0, ...options.retry },
    crashLimit: options.crashLimit ?? 3,
  };
}

/** Another engine with some plugins, labels and queues. */
export function peer(
  plugins: readonly string[],
  labels: readonly string[] = [],
  id = 'other',
  queues: readonly string[] = ['default'],
): Peer {
  return { id, plugins: new Set(plugins), labels: new Set(labels), queues: new Set(queues) };
}

/** Tasks for every name that a flow mentions, unless they are given. */
export function tasksOf(defined: Flow, given: readonly Task[] = []): readonly Task[] {
  const beside = branchesOf(defined).flatMap(({ tree }) => leavesOf(tree));
  const entries = [...leavesOf(defined.tasks), ...beside].map((leaf) => leaf.entry);
  const named = entries.flatMap((entry) => [
    ...(namesTask(entry) ? [entry.task] : []),
    entry.error,
    entry.undo,
  ]);
  const handlers = [handlerOf(defined)?.name, ...given.flatMap(({ error, undo }) => [error, undo])];
  const names = new Set([...named, ...handlers].filter((name) => name !== undefined));
  for (const { name } of given) names.delete(name);
  return [...given, ...[...names].map((name) => task(name))];
}

/** A live job of a flow as it is right after initialisation at `now` (epoch ms); steps can be given. */
export function liveJob(
  defined: Flow,
  { tasks = [], now = t0, ...more }: LiveJobOptions = {},
): LiveJob {
  const surroundings = world({ flows: [defined], tasks: tasksOf(defined, tasks) });
  const move = initialise(newJob({ flow: defined.name, owner: defined.owner }), now, surroundings);
  if (move.kind !== 'change' || !isLiveJob(move.job)) {
    throw new Error(`The flow of the test cannot be initialised: ${JSON.stringify(move)}`);
  }
  return { ...move.job, ...more };
}

type LiveJobOptions = Partial<Omit<LiveJob, 'tasks'>> & {
  /** Task documents; for names that are not given there is a plain one. */
  readonly tasks?: readonly Task[];
  readonly now?: number;
};

function flowIn(
  documents: readonly Flow[],
  name: string,
  owner: string,
  ask?: VersionAsk,
): Found<Flow> {
  const named = documents.filter((document) => document.name === name);
  const own = named.filter((document) => document.owner === owner);
  const everybody = named.filter((document) => document.owner === 'DEFAULT');
  const choice = chooseVersion(own.length > 0 ? own : everybody, ask);
  switch (choice.kind) {
    case 'none':
      return { kind: 'absent' };
    case 'absent':
      return choice;
    case 'ambiguous': {
      const ids = choice.docs.map((doc) => String((doc as { readonly _id?: string })._id));
      return { kind: 'ambiguous', ids, cause: choice.cause };
    }
    case 'chosen':
      return { kind: 'found', value: choice.doc };
  }
}

function foundIn<T extends { readonly name: string; readonly owner?: string }>(
  documents: readonly T[],
  name: string,
  owner: string,
): Found<T> {
  const named = documents.filter((document) => document.name === name);
  const own = named.find((document) => document.owner === owner);
  const value = own ?? named.find((document) => (document.owner ?? 'DEFAULT') === 'DEFAULT');
  return value === undefined ? { kind: 'absent' } : { kind: 'found', value };
}

/** The same value, of which nothing can be changed any more. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) frozen<unknown>(inner);
  }
  return value;
}
