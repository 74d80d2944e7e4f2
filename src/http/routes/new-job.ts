import { createHash } from 'node:crypto';
import { createLru } from '../../memo.js';
import { formKeyOf, type JobToSubmit } from '../../client.js';
import { unfitId } from '../../model/ids.js';
import { isObject } from '../../model/object.js';
import { engineKeys } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';
import { removalPrefix } from '../../model/removal.js';
import { retentionId } from '../../model/retention.js';
import { sizeProblem } from '../../model/size.js';
import { locksDatabase } from '../../model/target.js';
import { ownerOf } from '../../model/task.js';
import { problem } from '../../errors.js';
import { assertAllOwners, assertOwner, principalName } from '../access/owners.js';
import { reaches, roles, type Principal } from '../access/principal.js';
import { refuseDocument } from '../answers/problems.js';
import { withSecretsOf } from '../answers/redact.js';
import { excessOf } from '../../validate/limits.js';
import { documentProblems } from '../../validate/single.js';

/** Ids that begin so belong to documents of other kinds, or to CouchDB. */
const foreignIds = [
  '_',
  'engine:',
  'engine-control:',
  'queue-control:',
  'notify:',
  'lock:',
  'request:',
  'signal:',
  'event:',
  'task:',
  'flow:',
  'token:',
  'worker:',
  'schedule:',
  'schedule-run:',
  'event-run:',
  'hook-run:',
  'hook:',
  'gathering:',
  'rate:',
  'secret:',
  removalPrefix,
  // In a database that jobs are archived to.
  'archived:',
];

/** Why an id belongs to other documents, as the end of a sentence; `own`: the prefix that it may have. */
export function foreignId(id: string, own?: string): string | undefined {
  if (id === retentionId) return `be "${retentionId}"`;
  const prefix = foreignIds.find((one) => id.startsWith(one) && one !== own);
  return prefix === undefined ? undefined : `begin with "${prefix}"`;
}

export type NewJobOptions = {
  readonly principal: Principal;
  /** Header `idempotency-key`: the same key again means the same job. */
  readonly key?: string | undefined;
  /** Header `traceparent`: spans of the job belong to that trace. */
  readonly trace?: string | undefined;
};

/**
 * The job that somebody sends, fit to be stored: a new job and nothing else.
 * @throws Refused (`document_invalid`), TwsError `owner_refused`
 */
export function newJobOf(given: unknown, options: NewJobOptions): JobToSubmit {
  const { principal, key } = options;
  if (!isObject(given)) {
    refuseDocument('job', [{ path: '', message: 'A job must be a JSON object.' }]);
  }
  const { $schema: _schema, ...doc } = given;
  const own = { type: 'job', ...doc };
  const found = [...forbidden(own), ...documentProblems(withoutForbidden(own))];
  if (found.length > 0) refuseDocument('job', found);
  const { lost } = withSecretsOf(own, undefined);
  if (lost.length > 0) refuseDocument('job', lost.map(unknownSecret));
  assertOwner(principal, ownerOf(own));
  if (locksDatabase(own)) assertMayLockAll(principal);
  refuseChildId(principal, own);
  const id = '_id' in own || key === undefined ? {} : { _id: idOfKey(key, ownerOf(own)) };
  return { ...own, ...id, ...spanOf(own, options), type: 'job' };
}

/**
 * A job that names no owner, with the only one of who submits it: as a job of DEFAULT it would be refused. Only for
 * what is stored as it comes out of this; `newJobOf` checks the result like any other.
 */
export function withSoleOwner(given: unknown, { owners }: Principal): unknown {
  const [sole, ...others] = owners === 'all' ? [] : owners;
  if (sole === undefined || others.length > 0) return given;
  return isObject(given) && !Object.hasOwn(given, 'owner') ? { ...given, owner: sole } : given;
}

/** Forms of jobs, see `formKeyOf`, of which one was found fit: what else there is of others need not be checked again. */
const fitForms = createLru<true>(1_000);

/** As `newJobOf`, which it asks unless a job that differs in id and `ojs` only was found fit. Throws the same. */
export function orderedJobOf(
  given: Readonly<Record<string, unknown>> & { readonly _id: string },
  options: NewJobOptions,
): JobToSubmit {
  const form = formKeyOf(given);
  if (form === undefined || !fitForms.has(form) || !isFitBeside(given)) {
    const job = newJobOf(given, options);
    if (form !== undefined) fitForms.set(form, true);
    return job;
  }
  assertOwner(options.principal, ownerOf(given));
  refuseChildId(options.principal, given);
  return { ...given, ...spanOf(given, options), type: 'job' };
}

/** Whether there is nothing wrong with what differs in jobs of one form. */
function isFitBeside(doc: Readonly<Record<string, unknown>> & { readonly _id: string }): boolean {
  const { _id: id, ojs } = doc;
  if (unfitId(id) !== undefined || foreignId(id) !== undefined) return false;
  if (excessOf(doc) !== undefined || sizeProblem({ ojs }) !== undefined) return false;
  return withSecretsOf({ ojs }, undefined).lost.length === 0;
}

function spanOf(job: Readonly<Record<string, unknown>>, { trace }: NewJobOptions) {
  return trace === undefined || 'traceparent' in job ? {} : { traceparent: trace };
}

/** Called with the places where an answer hid a secret that a client which sends it back cannot know. */
export function unknownSecret(path: string): Problem {
  return {
    path,
    message: `${path} is what answers show in place of a secret; send the secret itself, encrypted.`,
  };
}

function forbidden(doc: Readonly<Record<string, unknown>>): readonly Problem[] {
  return Object.keys(doc).flatMap((key) => {
    const because = refusalOf(key, doc[key]);
    return because === undefined ? [] : [{ path: key, message: because }];
  });
}

function refusalOf(key: string, value: unknown): string | undefined {
  if (key === '_id') {
    const foreign = typeof value === 'string' ? foreignId(value) : undefined;
    return foreign === undefined
      ? undefined
      : `_id must not ${foreign}: such ids belong to other documents.`;
  }
  if (key.startsWith('_')) return `${key} must be left out: a job can only be made, not changed.`;
  if (key === 'type') return value === 'job' ? undefined : 'type must be "job", or be left out.';
  if (key === 'sensitive' && typeof value === 'object' && value !== null) {
    return 'sensitive must be left out: values are kept apart from jobs; give the job their "subject".';
  }
  if (key === 'state') return 'state must be left out of a new job: the engine sets it.';
  return engineKeys.has(key)
    ? `${key} must be left out of a new job: the engine writes it.`
    : undefined;
}

function withoutForbidden(doc: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(doc).filter(([key, value]) => refusalOf(key, value) === undefined);
  return { ...Object.fromEntries(kept), type: 'job' };
}

/**
 * A lock whose scope is the database keeps back the jobs of all owners.
 * @throws TwsError `role_missing`, `owners_needed`
 */
function assertMayLockAll(principal: Principal): void {
  if (!reaches(principal, 'admin')) {
    throw problem('role_missing', { who: principalName(principal), needed: roles.admin });
  }
  assertAllOwners(principal, 'set a target or locks with "scope": "database"');
}

/** Such an id is that of a child job, which its parent takes for the one it made. */
function refuseChildId({ owners }: Principal, { _id }: Readonly<Record<string, unknown>>): void {
  if (owners === 'all' || typeof _id !== 'string' || !/:\d+$|~\d+$/.test(_id)) return;
  const message = '_id must not end like that of a child job (":1", "~2"); choose another one.';
  refuseDocument('job', [{ path: '_id', message }]);
}

function idOfKey(key: string, owner: string): string {
  return `key-${createHash('sha256').update(`${owner}\n${key}`).digest('hex').slice(0, 40)}`;
}
