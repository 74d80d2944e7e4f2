import type { z } from 'zod';
import { toFlow, toKeyedParams } from './dialects.js';
import { handWritten, withReferences } from './encrypted-values.js';
import { engineSchema, type EngineDocument } from './engine.js';
import { flowSchema, type Flow } from './flow.js';
import {
  finalJobSchema,
  liveJobSchema,
  liveStateSchema,
  newJobSchema,
  type Job,
  type LiveJob,
  type NewJob,
  type Problem,
} from './job.js';
import { lockSchema, type LockDocument } from './lock.js';
import { eventSchema, type EventDocument } from './event.js';
import { show, toProblems } from './problems.js';
import { requestSchema, type JobRequest } from './request.js';
import { sizeProblem } from './size.js';
import { signalDocumentSchema, type SignalDocument } from './signal.js';
import { taskSchema, type Task } from './task.js';
import { toTree } from './to-tree.js';
import { isOfWork } from './work.js';

/** A document as CouchDB hands it out. */
export type StoredDocument = {
  readonly _id: string;
  readonly _rev: string;
  readonly [key: string]: unknown;
};

type Valid<K extends string, V> = { readonly kind: K; readonly ok: true; readonly value: V };
type Invalid<K extends string> = {
  readonly kind: K;
  readonly ok: false;
  readonly problems: readonly [Problem, ...Problem[]];
};
type Either<K extends string, V> = Valid<K, V> | Invalid<K>;

/** What a document is. `other`: not one of ours (design documents, foreign types). */
export type Parsed =
  | Either<'task', Task & Identity>
  | Either<'flow', Flow & Identity>
  | Either<'job', Job>
  | Either<'request', JobRequest>
  | Either<'signal', SignalDocument>
  | Either<'event', EventDocument>
  | Either<'engine', EngineDocument & Identity>
  | Either<'lock', LockDocument & Identity>
  | { readonly kind: 'other' };

type Identity = { readonly _id: string; readonly _rev: string };

/** Reads any document once, at the edge; inside, the value is trusted. Never throws. */
export function parseDocument(doc: StoredDocument): Parsed {
  const { type } = doc;
  if (!isKind(type)) return { kind: 'other' };
  const large = tooLarge(doc);
  if (large !== undefined) return { kind: type, ok: false, problems: [large] };
  switch (type) {
    case 'task':
      return definition('task', doc, (safe) =>
        either('task', taskSchema, safe, (task) => task as Task & Identity),
      );
    case 'flow':
      return definition('flow', doc, (safe) =>
        besideNotify(safe, (rest) =>
          either('flow', flowSchema, rest, (flow) => toFlow(flow) as Flow & Identity),
        ),
      );
    case 'job':
      return parseJob(doc);
    case 'request':
      return either('request', requestSchema, doc, (request) => request as JobRequest);
    case 'signal':
      return either('signal', signalDocumentSchema, doc, (signal) => signal as SignalDocument);
    case 'event':
      return either('event', eventSchema, doc, (event) => event);
    case 'engine':
      return either('engine', engineSchema, doc, (engine) => engine as EngineDocument & Identity);
    case 'lock':
      return either('lock', lockSchema, doc, (lock) => lock as LockDocument & Identity);
  }
}

const kinds = ['task', 'flow', 'job', 'request', 'signal', 'event', 'engine', 'lock'] as const;

function isKind(type: unknown): type is (typeof kinds)[number] {
  return kinds.some((kind) => kind === type);
}

/** Reads a task or flow with references in place of its encrypted values. */
function definition<K extends 'task' | 'flow', V>(
  kind: K,
  doc: StoredDocument,
  read: (safe: StoredDocument) => Either<K, V>,
): Either<K, V> {
  const [first, ...others] = handWritten(doc);
  return first === undefined
    ? read(withReferences(kind, doc))
    : { kind, ok: false, problems: [first, ...others] };
}

function parseJob(doc: StoredDocument): Either<'job', Job> {
  const { state } = doc;
  if (state === undefined) {
    return besideNotify(doc, (rest) => either('job', newJobSchema, rest, toNewJob));
  }
  if (isFinalState(state)) {
    return either('job', finalJobSchema, doc, (job): Job => job as unknown as Job);
  }
  if (!('steps' in doc) && !('start' in doc)) return stateOfNew(state);
  const judged = either('job', liveStateSchema, doc, (job) => job);
  return judged.ok ? either('job', liveJobSchema, doc, toLiveJob) : judged;
}

function toNewJob(job: z.infer<typeof newJobSchema>): Job {
  if (job.tasks === undefined) return job as unknown as NewJob;
  const tasks = toTree(job.tasks);
  const params = job.params === undefined ? {} : { params: toKeyedParams(job.params, tasks) };
  return { ...job, ...params, tasks } as unknown as NewJob;
}

/** What is wrong with `notify` never keeps a document from being read: it stays as it was written. */
function besideNotify<K extends string, V extends object>(
  doc: StoredDocument,
  read: (rest: StoredDocument) => Either<K, V>,
): Either<K, V> {
  if (doc['notify'] === undefined) return read(doc);
  const { notify, ...rest } = doc;
  const parsed = read(rest);
  return parsed.ok ? { ...parsed, value: { ...parsed.value, notify } } : parsed;
}

/** The state of a job that has ended, in a document of any form. */
export function isFinalState(state: unknown): boolean {
  return state === '$$complete' || state === '$$cancelled';
}

/** Somebody wrote a state into a job that no engine has taken. */
function stateOfNew(state: unknown): Invalid<'job'> {
  const message = `state must be left out of a new job: the engine sets it; it is ${show(state)}.`;
  return { kind: 'job', ok: false, problems: [{ path: 'state', message }] };
}

/** Snapshots may have been edited by hand, in any form that a flow may have. */
function toLiveJob(job: z.infer<typeof liveJobSchema>): Job {
  const { tasks, ...settings } = toFlow({ ...job.flow_definition, tasks: job.tasks });
  return { ...job, tasks, flow_definition: settings } as unknown as LiveJob;
}

function either<K extends string, S extends z.ZodType, V>(
  kind: K,
  schema: S,
  doc: StoredDocument,
  toValue: (parsed: z.infer<S>) => V,
): Either<K, V> {
  const parsed = schema.safeParse(doc);
  if (parsed.success) return { kind, ok: true, value: toValue(parsed.data) };
  const [first, ...others] = toProblems(parsed.error.issues, doc);
  const problems: readonly [Problem, ...Problem[]] = [
    first ?? { path: '', message: 'The document is not valid.' },
    ...others,
  ];
  return { kind, ok: false, problems };
}

/**
 * Documents that are too large are refused before anything walks them. Final jobs may be of any size,
 * and so may the answers of workers, as the results of plugins may.
 */
function tooLarge(doc: StoredDocument): Problem | undefined {
  const { type, name } = doc;
  if (type === 'signal' && typeof name === 'string' && isOfWork(name)) return undefined;
  if (doc['type'] !== 'job') return sizeProblem(doc, false);
  const { state } = doc;
  return isFinalState(state) ? undefined : sizeProblem(doc, state !== undefined);
}
