import type { z } from 'zod';
import { toFlow, toKeyedParams } from './dialects.js';
import type { StoredDocument } from '../model/document.js';
import { handWritten, secretsIn, sensitiveIn, withReferences } from '../model/encrypted-values.js';
import { sensitiveNamesOf } from '../model/sensitive.js';
import { invalid, type Either, type Invalid } from '../model/either.js';
import { engineSchema, type EngineDocument } from '../model/engine.js';
import type { Flow } from '../model/flow.js';
import {
  finalJobSchema,
  isFinalState,
  type Job,
  liveStateSchema,
  type NewJob,
} from '../model/job.js';
import { flowSchema, newJobSchemaOf, newJobSchema, writtenJobFields } from './documents.js';
import { hookSchema, type Hook } from '../model/hook.js';
import { lockSchema, type LockDocument } from '../model/lock.js';
import { eventSchema, type EventDocument } from '../model/event.js';
import { parseLiveJob } from './parse-live.js';
import { show, type Problem } from '../model/problems.js';
import { requestSchema, type JobRequest } from '../model/request.js';
import { without } from '../model/record.js';
import { sizeProblem } from '../model/size.js';
import { notifyListSchema, type NotifyList } from '../model/notify-list.js';
import { queueControlSchema, type QueueControl } from '../model/queue-control.js';
import { scheduleSchema, type Schedule } from '../model/schedule.js';
import { signalDocumentSchema, type SignalDocument } from '../model/signal.js';
import { taskSchema, type Task } from '../model/task.js';
import { toTree } from '../structures/to-tree.js';
import { isOfWork } from '../model/work.js';

/** What a document is. `other`: not one of ours (design documents, foreign types). */
export type Parsed =
  | Either<'task', Task & Identity>
  | Either<'flow', Flow & Identity>
  | Either<'job', Job>
  | Either<'request', JobRequest>
  | Either<'signal', SignalDocument>
  | Either<'event', EventDocument>
  | Either<'schedule', Schedule>
  | Either<'hook', Hook>
  | Either<'queue-control', QueueControl>
  | Either<'notify', NotifyList>
  | Either<'engine', EngineDocument & Identity>
  | Either<'lock', LockDocument & Identity>
  | { readonly kind: 'other' };

type Identity = { readonly _id: string; readonly _rev: string };

type DocumentKind = Exclude<Parsed['kind'], 'other'>;
const kinds: ReadonlyMap<unknown, DocumentKind> = new Map(
  (
    [
      ...(['task', 'flow', 'job', 'request', 'signal', 'event'] as const),
      ...(['schedule', 'hook', 'queue-control', 'notify', 'engine', 'lock'] as const),
    ] as const
  ).map((kind) => [kind, kind]),
);

/** Reads any document once, at the edge; inside, the value is trusted. Never throws. */
export function parseDocument(doc: StoredDocument): Parsed {
  const parsing = parseInPieces(doc);
  for (;;) {
    const { done, value } = parsing.next();
    if (done === true) return value;
  }
}

/** The same in pieces of a few milliseconds: a document may be long. */
export function* parseInPieces(doc: StoredDocument): Generator<undefined, Parsed, undefined> {
  const kind = kinds.get(doc.type);
  if (kind === undefined) return { kind: 'other' };
  const large = tooLarge(doc);
  if (large !== undefined) return { kind, ok: false, problems: [large] };
  switch (kind) {
    case 'task':
      return definition('task', doc, (safe) =>
        either('task', taskSchema, safe, (task) => task as Task & Identity),
      );
    case 'flow':
      return definition('flow', doc, (safe) =>
        beside(['notify', 'retain', 'on'], safe, (rest) =>
          either('flow', flowSchema, rest, (flow) => toFlow(flow) as Flow & Identity),
        ),
      );
    case 'job':
      return yield* parseJob(doc);
    case 'request':
      return either('request', requestSchema, doc, (request) => request as JobRequest);
    case 'signal':
      return either('signal', signalDocumentSchema, doc, (signal) => signal as SignalDocument);
    case 'event':
      return either('event', eventSchema, doc, (event) => event);
    case 'schedule':
      return withoutSecrets(doc) ?? either('schedule', scheduleSchema, doc, (it) => it as Schedule);
    case 'hook':
      return withoutReferences(doc) ?? either('hook', hookSchema, doc, (it) => it as Hook);
    case 'queue-control':
      return either('queue-control', queueControlSchema, doc, (it) => it as QueueControl);
    case 'notify':
      return either('notify', notifyListSchema, doc, (it) => it as NotifyList);
    case 'engine':
      return either('engine', engineSchema, doc, (engine) => engine as EngineDocument & Identity);
    case 'lock':
      return either('lock', lockSchema, doc, (lock) => lock as LockDocument & Identity);
  }
}

/** Says that a schedule holds secrets, which no job could open. */
function withoutSecrets(doc: StoredDocument): Invalid<'schedule'> | undefined {
  const [path] = secretsIn(doc).keys();
  if (path === undefined) return undefined;
  const message = `${path} must not be an encrypted value, nor refer to one: put it into the task that needs it, where it is decrypted.`;
  return { kind: 'schedule', ok: false, problems: [{ path, message }] };
}

/** Says that somebody wrote a reference to a secret into a hook, which only engines do in jobs. */
function withoutReferences(doc: StoredDocument): Invalid<'hook'> | undefined {
  const [first, ...others] = handWritten(doc);
  return first === undefined
    ? undefined
    : { kind: 'hook', ok: false, problems: [first, ...others] };
}

/** Reads a task or flow with references in place of its encrypted values. */
function definition<K extends 'task' | 'flow', V>(
  kind: K,
  doc: StoredDocument,
  read: (safe: StoredDocument) => Either<K, V>,
): Either<K, V> {
  const [first, ...others] = [...handWritten(doc), ...sensitiveProblems(kind, doc)];
  return first === undefined
    ? read(withReferences(kind, doc))
    : { kind, ok: false, problems: [first, ...others] };
}

/** Sensitive values that a definition names and may not have: only a task may, those that it lists. */
function sensitiveProblems(kind: 'task' | 'flow', doc: StoredDocument): readonly Problem[] {
  const listed = kind === 'task' ? sensitiveNamesOf(doc) : [];
  const why =
    kind === 'flow'
      ? 'a flow must not: put it into the task that needs it'
      : '"sensitive" of the task does not list';
  return [...sensitiveIn(doc)].flatMap(([path, names]) => {
    const name = names.find((one) => !listed.includes(one));
    if (name === undefined) return [];
    const message =
      name === ''
        ? `${path} must name a sensitive value in each tag that reads one, as {{$sensitive.name}}.`
        : `${path} names the sensitive value "${name}", which ${why}.`;
    return [{ path, message }];
  });
}

function* parseJob(doc: StoredDocument): Generator<undefined, Either<'job', Job>, undefined> {
  const { state } = doc;
  if (state === undefined) {
    return beside(['notify'], doc, (rest) => either('job', newJobSchemaFor(rest), rest, toNewJob));
  }
  if (isFinalState(state)) {
    return either('job', finalJobSchema, doc, (job): Job => job as unknown as Job);
  }
  if (!('steps' in doc) && !('start' in doc)) return stateOfNew(state);
  const judged = either('job', liveStateSchema, doc, (job) => job);
  return judged.ok ? yield* parseLiveJob(doc) : judged;
}

/** Jobs have few sets of keys; of more than so many the schema of all is taken. */
const mostKeySets = 200;

const byKeys = new Map<string, typeof newJobSchema>();

/**
 * Returns a schema that says the same of this job and is cheaper: of what may be left out it has only
 * what is there. A schema asks all of its fields, and makes an issue of each that is not.
 */
export function newJobSchemaFor(doc: object): typeof newJobSchema {
  const fields = Object.entries(writtenJobFields).filter(
    ([key, { _zod: field }]) => key in doc || field.optin !== 'optional',
  );
  const keys = fields.map(([key]) => key).join();
  const known = byKeys.get(keys);
  if (known !== undefined || byKeys.size === mostKeySets) return known ?? newJobSchema;
  const schema = newJobSchemaOf(Object.fromEntries(fields) as typeof writtenJobFields);
  byKeys.set(keys, schema);
  return schema;
}

function toNewJob(job: z.infer<typeof newJobSchema>): Job {
  if (job.tasks === undefined) return job as unknown as NewJob;
  const tasks = toTree(job.tasks);
  const params = job.params === undefined ? {} : { params: toKeyedParams(job.params, tasks) };
  return { ...job, ...params, tasks } as unknown as NewJob;
}

/** Reads a document by a schema. */
function either<K extends string, S extends z.ZodType, V>(
  kind: K,
  schema: S,
  doc: object,
  toValue: (parsed: z.infer<S>) => V,
): Either<K, V> {
  const parsed = schema.safeParse(doc);
  if (parsed.success) return { kind, ok: true, value: toValue(parsed.data) };
  return invalid(kind, parsed.error.issues, doc);
}

/**
 * What is wrong with `notify`, `retain` or `on` never keeps a document from being read: they stay as they
 * were written. Whoever stores a document is told (`readNotify`, `readRetain`, `readOn`).
 */
function beside<K extends string, V extends object>(
  keys: readonly ('notify' | 'retain' | 'on')[],
  doc: StoredDocument,
  read: (rest: StoredDocument) => Either<K, V>,
): Either<K, V> {
  const there = keys.filter((key) => doc[key] !== undefined);
  if (there.length === 0) return read(doc);
  const entries = Object.entries(doc);
  const isApart = ([key]: [string, unknown]): boolean => there.some((one) => one === key);
  const rest = Object.fromEntries(entries.filter((entry) => !isApart(entry))) as StoredDocument;
  const parsed = read(rest);
  if (!parsed.ok) return parsed;
  const apart = Object.fromEntries(entries.filter(isApart));
  return { ...parsed, value: { ...parsed.value, ...apart } };
}

/** Somebody wrote a state into a job that no engine has taken. */
function stateOfNew(state: unknown): Invalid<'job'> {
  const message = `state must be left out of a new job: the engine sets it; it is ${show(state)}.`;
  return { kind: 'job', ok: false, problems: [{ path: 'state', message }] };
}

/**
 * Documents that are too large are refused before anything walks them. Jobs that an engine has begun
 * have limits of their own or, when they are final, none; and the answers of workers, and what engines
 * write into events, may be of any size, as the results of plugins may.
 */
function tooLarge(doc: StoredDocument): Problem | undefined {
  const { type, name } = doc;
  if (type === 'signal' && typeof name === 'string' && isOfWork(name)) return undefined;
  if (type === 'job' && doc['state'] !== undefined) return undefined;
  // What engines write into an event is as long as the jobs that it starts.
  return sizeProblem(type === 'event' ? without(doc, 'triggered') : doc);
}
