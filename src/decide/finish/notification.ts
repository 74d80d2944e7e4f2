import type { LiveJob } from '../../model/job.js';
import type { StepLink } from '../../model/answer-link.js';
import type { Notifies, NotifyEntry } from '../../model/notify.js';
import type { AlertOccasion } from '../../model/occasions.js';
import type { RetryInput } from '../../model/retry.js';
import { statusOf } from '../../reading/status.js';
import { defaultOwner } from '../../model/task.js';
import { toTree } from '../../structures/to-tree.js';
import { leavesOf } from '../../structures/tree.js';
import type { ChildJob } from '../intent.js';
import type { World } from '../world.js';
import { tellingDepth } from '../../reading/parent.js';
import { isObject } from '../../model/object.js';
import { notificationBody } from '../notices/formats.js';
import { expandParams } from '../start/params.js';
import type { LinkStep } from '../waiting/links.js';

/** What notifications ask of the world. */
export type TellingWorld = Pick<World, 'linkOf' | 'answerLinks'>;

/**
 * What a notification is made from. `id`: its own; `before`: its subject before the end, or as it goes on;
 * `ended`: that with its end, or the same; `at`: when it happened (epoch ms).
 */
export type Telling = {
  readonly before: Subject;
  readonly ended: Doc & { readonly _id: string };
  readonly at: number;
  /** What is told of a job that goes on; absent: its end. */
  readonly alert?: AlertTold | undefined;
  readonly entry: NotifyEntry;
  /** Where the entry is, if it is a flow's. */
  readonly of?: Notifies['entry'] | undefined;
  /** Whose the entry is; absent: of the owner of the subject. */
  readonly owner?: string | undefined;
  readonly id: string;
};

/** What is told of a job that goes on. */
export type AlertFacts = {
  readonly event: AlertOccasion;
  readonly because: string;
  readonly at: number;
  readonly step?: string;
  readonly signal?: string;
  /** Of a wait for people: what it asks, whom, and until when (epoch ms). */
  readonly title?: string;
  readonly text?: string;
  readonly assignee?: readonly string[];
  readonly group?: readonly string[];
  readonly due?: number;
};

/** The same, with the attempt that waits and the links by which it may be answered. */
export type AlertTold = AlertFacts & { readonly answer?: AnswerFacts };

type AnswerFacts = Omit<LinkStep, 'job'> & { readonly links: readonly StepLink[] };

type Doc = Readonly<Record<string, unknown>>;

/** A job document before its end, as far as notifications read it. */
export type Subject = Doc & { readonly _id: string; readonly _rev: string };

/** Returns the run that ends; 0: the job has not begun. */
export function runOf({ state, run, start }: Subject): number {
  return state === undefined || typeof start !== 'number' || typeof run !== 'number' ? 0 : run;
}

/** Name of the task, and of the plugin, of webhooks. */
export const webhook = 'webhook';

/** A receiver that is away has about a day to come back: waits of 5 s, 25 s, 2 min, 10 min, 52 min, 4 h … */
const webhookRetry: RetryInput = {
  limit: 9,
  delay: 5_000,
  factor: 5,
  max: 21_600_000,
  jitter: 0.2,
};

/**
 * Returns the job that reports the end of another, in the same queue. It has the same owner, or that of the notify
 * list: what an owner stores changes nothing in how a list of DEFAULT tells of the jobs.
 */
export function notificationOf(telling: Telling, world: TellingWorld): ChildJob {
  const { ended, entry, id, at } = telling;
  const { owner = ended['owner'] } = telling as Doc;
  const { priority } = ended as Doc;
  const kept = {
    _id: id,
    type: 'job' as const,
    owner: typeof owner === 'string' ? owner : defaultOwner,
    ...(typeof priority === 'number' ? { priority } : {}),
    notifies: notifiesFor(telling, world),
  };
  const { flow, task } = entry;
  if (flow !== undefined) {
    const params = entry.params === undefined ? {} : { params: entry.params };
    const version = entry.version === undefined ? {} : { flow_version: entry.version };
    return { ...kept, flow, ...version, ...ownQueue(ended), ...params };
  }
  const queue = queueFor(ended);
  if (task === undefined) return { ...kept, ...queue, ...webhookParts(entry, kept.owner, at) };
  const params = taskParams(entry);
  return { ...kept, ...queue, tasks: toTree([{ task, ...(params && { params }) }]) };
}

/** A webhook needs no task document: its job is made as one that has begun, with what it needs. */
function webhookParts(entry: NotifyEntry, owner: string, start: number) {
  const { timeout, retry = webhookRetry } = entry;
  const tasks = toTree([{ task: webhook, params: webhookParams(entry) }]);
  const flow_definition: LiveJob['flow_definition'] = { type: 'flow', name: '', owner, timeout: 0 };
  const task = {
    type: 'task' as const,
    name: webhook,
    retry,
    ...(timeout === undefined ? {} : { timeout }),
  };
  const definitions = { [webhook]: task };
  return {
    state: '$$ready',
    start,
    tasks,
    definitions,
    flow_definition,
    params: expandParams({}, leavesOf(tasks), flow_definition, definitions),
    steps: [],
    run: 1,
  };
}

/** A template that is replaced by the body that the format makes: what is in that is no template. */
const message = '{{job.notifies.message}}';
const mailTexts = {
  subject: '{{job.notifies.message.subject}}',
  text: '{{job.notifies.message.text}}',
};

/** Returns the parameters of the webhook that an entry names. */
export function webhookParams(entry: Doc): Doc {
  const { url, headers, secret, format, body = format === undefined ? undefined : message } = entry;
  const given = Object.entries({ url, headers, secret, body });
  return Object.fromEntries(given.filter(([, one]) => one !== undefined));
}

/** Returns the parameters of the task that an entry names; undefined: it gives none. */
export function taskParams({ format, params }: Doc): Doc | undefined {
  const own = isObject(params) ? params : undefined;
  if (format === undefined) return own;
  return { ...(format === 'mail' ? mailTexts : { body: message }), ...own };
}

function ownQueue({ queue }: Doc) {
  return typeof queue === 'string' ? { queue } : {};
}

/** Engines that could run the subject are there for what tells of it, too. */
function queueFor({ queue, flow_definition: flow, parent }: Doc) {
  const named = [
    queue,
    (flow as Doc | undefined)?.['queue'],
    (parent as Doc | undefined)?.['queue'],
  ];
  return ownQueue({ queue: named.find((one) => one !== undefined) });
}

function notifiesFor(telling: Telling, world: TellingWorld): Notifies {
  const {
    before,
    ended,
    entry: { include, flow, format },
    of,
  } = telling;
  const { answer, ...told } = telling.alert ?? {};
  const alert = telling.alert && (told as AlertFacts);
  const links = answer && linksToTell(telling, answer, world);
  // What an entry says for a flow are the parameters of a job, which has no secrets.
  const entry = flow === undefined ? of : undefined;
  return {
    ...includedOf(ended, { include, format, alert }, world),
    depth: tellingDepth(ended) + 1,
    ...(runOf(before) === 0 ? { of_rev: before._rev } : {}),
    ...(include === undefined ? {} : { include }),
    ...(format === undefined ? {} : { format }),
    ...(entry === undefined ? {} : { entry }),
    ...(links === undefined ? {} : { answer: links }),
  };
}

/**
 * The links of a form for what tells of it (PF8). Only an entry of a stored flow or of a notify list gets them: with
 * `notify` of a job, its submitter could answer in the place of others. A flow as receiver has none either.
 */
function linksToTell(
  { entry: { flow }, of, owner, id, at }: Telling,
  { links, ...step }: AnswerFacts,
  { answerLinks }: TellingWorld,
): Notifies['answer'] {
  const isStored = (of !== undefined && of.flow !== '') || owner !== undefined;
  if (answerLinks === undefined || flow !== undefined || !isStored) return undefined;
  return {
    ...step,
    links: links
      .filter(({ until }) => until > at)
      .map((link) => ({ ...link, mark: answerLinks.markOf(id, link.hash) })),
  };
}

/** What an entry asks for. */
type Asked = {
  readonly include?: Notifies['include'] | undefined;
  readonly format?: Notifies['format'] | undefined;
  readonly alert?: AlertFacts | undefined;
};

type Included = Pick<Notifies, 'job' | 'run' | 'status'> & Doc;

/**
 * Returns what is reported of a final job: how it ended, and of its work only what an entry
 * includes.
 */
export function includedOf(
  ended: Doc & { readonly _id: string },
  { include = [], format, alert }: Asked,
  { linkOf }: Pick<World, 'linkOf'>,
): Included {
  const { _id: job, exit, failure, start, end, run, flow, owner, external_id, keys, tags } = ended;
  const link = linkOf(job);
  const known = { flow, owner, exit, failure, start, end, external_id, keys, tags, link };
  const more = include
    .filter((key) => ended[key] !== undefined)
    .map((key): readonly [string, unknown] => [key, small(ended[key])]);
  const included = {
    job,
    run: typeof run === 'number' ? run : 0,
    status: statusOf(ended, alert?.at ?? 0),
    ...alert,
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    ...Object.fromEntries(more),
  };
  return format === undefined
    ? included
    : { ...included, message: notificationBody(format, included) };
}

/** Longer values (JSON, characters) stay where they are. */
const mostIncluded = 65_536;

function small(value: unknown): unknown {
  const { length } = JSON.stringify(value);
  return length <= mostIncluded ? value : { $omitted: length };
}
