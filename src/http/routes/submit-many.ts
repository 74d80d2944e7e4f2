import { setImmediate } from 'node:timers/promises';
import type { JobToSubmit, SubmitOptions, SubmittedOne } from '../../client.js';
import { problem, TwsError } from '../../errors.js';
import { isObject } from '../../model/object.js';
import type { Problem } from '../../model/problems.js';
import type { StoredDocument } from '../../model/document.js';
import {
  answerOf,
  Refused,
  refusedDocument,
  firstMistakes,
  type ProblemBody,
} from '../answers/problems.js';
import { mayHave } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import type { Api } from '../api.js';
import { warningsOfJob } from '../../validate/single.js';
import { mostDocuments } from '../../validate/limits.js';
import type { RouteAnswer } from '../route.js';
import { newJobOf, withSoleOwner, type NewJobOptions } from './new-job.js';

type Many = NewJobOptions & SubmitOptions & { readonly atomic: boolean };
type Verdict = {
  readonly status: number;
  readonly id?: string;
  readonly rev?: string;
  readonly problem?: ProblemBody;
  readonly warnings?: readonly Problem[];
};

/** Every document is checked before the first one is stored. */
export async function submitMany(
  api: Api,
  docs: readonly unknown[],
  options: Many,
): Promise<RouteAnswer> {
  if (docs.length > mostDocuments) {
    throw problem('bulk_too_many', { count: docs.length, most: mostDocuments });
  }
  const tried = await tryAll(docs, options);
  const jobs = tried.flatMap((one) => ('job' in one ? [one.job] : []));
  const hindrances = new Map([
    ...(await hindrancesOf(api, jobs, options.principal)),
    ...(options.atomic ? await takenKeys(api, jobs) : []),
  ]);
  const checked = tried.map((one) => {
    const hindrance = 'job' in one ? hindrances.get(one.job) : undefined;
    return hindrance === undefined ? one : refusal(hindrance);
  });
  const good = checked.flatMap((one) => ('job' in one ? [one.job] : []));
  const refused = checked.length - good.length;
  if (options.atomic && refused > 0) {
    const { body, status } = answerOf(problem('bulk_refused', { refused, of: checked.length }));
    const results = checked.flatMap((one, index) => ('job' in one ? [] : [{ index, ...one }]));
    return { status, body: { ...body, results } };
  }
  const stored = await api.client.submitMany(good, { signal: options.signal });
  let next = 0;
  const verdicts = checked.map((one) => {
    if (!('job' in one)) return one;
    const result = stored[next];
    next += 1;
    return result === undefined ? { status: 200 } : { ...verdictOf(result), ...one.more };
  });
  return { status: 200, body: reportOf(verdicts) };
}

/** The jobs that are not there yet and whose `unique` key is taken. */
async function takenKeys(
  { client }: Api,
  jobs: readonly JobToSubmit[],
): Promise<readonly (readonly [JobToSubmit, TwsError])[]> {
  const ids = jobs.flatMap(({ _id }) => _id ?? []);
  const there = ids.length === 0 ? new Map() : await client.getMany(ids);
  const asNew = new Map(
    jobs.flatMap((job, i) =>
      job._id !== undefined && there.has(job._id)
        ? []
        : [[{ _id: `new job ${i}`, ...job }, job] as const],
    ),
  );
  const conflicts = await client.uniqueConflicts([...asNew.keys()]);
  return [...asNew].flatMap(([asked, job]) => {
    const conflict = conflicts.get(asked);
    return conflict === undefined ? [] : [[job, conflict] as const];
  });
}

/** Why jobs are not taken, for all that they are valid: their flow does not take them, or they may not be had. */
export async function hindrancesOf(
  api: Api,
  jobs: readonly JobToSubmit[],
  principal: Principal,
): Promise<ReadonlyMap<JobToSubmit, TwsError | Refused>> {
  const refused = [...(await api.client.unwelcome(jobs))].map(
    ([job, found]) => [job, refusedDocument('job', [found])] as const,
  );
  return new Map([...refused, ...(await withheld(api, jobs, principal))]);
}

/**
 * Why a caller cannot have these jobs: an id belongs to a document that the caller may not see, or to
 * the tree of one, or the parent or root is no job that the caller may see.
 */
async function withheld(
  { client }: Api,
  jobs: readonly JobToSubmit[],
  principal: Principal,
): Promise<ReadonlyMap<JobToSubmit, TwsError | Refused>> {
  if (principal.owners === 'all') return new Map();
  const ids = jobs.flatMap((job) => [
    ...(job._id === undefined ? [] : [job._id, ...idsAbove(job._id)]),
    ...parentsOf(job).map(({ id }) => id),
  ]);
  const docs =
    ids.length === 0 ? new Map<string, StoredDocument>() : await client.getMany([...new Set(ids)]);
  const isMine = (id: string): boolean => {
    const doc = docs.get(id);
    return doc !== undefined && mayHave(principal, doc);
  };
  return new Map(
    jobs.flatMap((job): [JobToSubmit, TwsError | Refused][] => {
      const { _id: id } = job;
      if (id !== undefined && docs.has(id) && !isMine(id)) {
        return [[job, problem('document_conflict', { id })]];
      }
      // Engines take a job for one of the tree whose id its own begins with.
      if (id !== undefined && idsAbove(id).some((one) => docs.has(one) && !isMine(one))) {
        return [[job, problem('document_conflict', { id })]];
      }
      const parent = parentsOf(job).find((one) => !isMine(one.id));
      if (parent === undefined) return [];
      const { path } = parent;
      const message = `${path} must be the id of a job that you may see; it is ${JSON.stringify(parent.id)}.`;
      return [[job, refusedDocument('job', [{ path, message }])]];
    }),
  );
}

/** The jobs that a job says it was made for: its parent, and the root of their tree. */
function parentsOf({ parent }: JobToSubmit): readonly { path: string; id: string }[] {
  if (!isObject(parent)) return [];
  return ['job', 'root'].flatMap((key) => {
    const id = parent[key];
    return typeof id === 'string' ? [{ path: `parent.${key}`, id }] : [];
  });
}

/** Ids of jobs whose children have such ids, the longest first; of very many, the shortest. */
function idsAbove(id: string): readonly string[] {
  const parts = id.split(':');
  return parts
    .slice(1)
    .map((_part, i) => parts.slice(0, parts.length - 1 - i).join(':'))
    .slice(-mostColons);
}

/** Maximum number of ancestors of a job that are looked up. */
const mostColons = 32;

type Tried =
  | {
      readonly job: ReturnType<typeof newJobOf>;
      readonly more: { readonly warnings?: readonly Problem[] };
    }
  | Verdict;

/** So long documents are checked before others have their turn, ms. */
const sliceMs = 20;

async function tryAll(docs: readonly unknown[], options: NewJobOptions): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  let began = performance.now();
  for (const doc of docs) {
    tried.push(tryOne(doc, options));
    if (performance.now() - began < sliceMs) continue;
    await setImmediate();
    began = performance.now();
  }
  return tried;
}

function tryOne(doc: unknown, options: NewJobOptions): Tried {
  try {
    const job = newJobOf(withSoleOwner(doc, options.principal), options);
    const warnings = firstMistakes(warningsOfJob(job));
    return { job, more: warnings.length === 0 ? {} : { warnings } };
  } catch (error) {
    if (error instanceof Refused || error instanceof TwsError) return refusal(error);
    throw error;
  }
}

function refusal(error: TwsError | Refused): Verdict {
  const { status, body } =
    error instanceof Refused ? answerOf(error.cause, error.found) : answerOf(error);
  return { status, problem: body };
}

function verdictOf(one: SubmittedOne): Verdict {
  switch (one.kind) {
    case 'submitted':
      return {
        status: one.existed ? 200 : 201,
        ...{ id: one.id, rev: one.rev },
        ...(one.existing === undefined ? {} : { existing: one.existing }),
        ...(one.replaces === undefined ? {} : { replaces: one.replaces }),
      };
    case 'refused':
      return refusal(one.problem);
  }
}

function reportOf(verdicts: readonly Verdict[]) {
  const count = (is: (status: number) => boolean): number =>
    verdicts.filter(({ status }) => is(status)).length;
  return {
    submitted: count((status) => status === 201),
    existed: count((status) => status === 200),
    refused: count((status) => status >= 400),
    results: verdicts.map((verdict, index) => ({ index, ...verdict })),
  };
}
