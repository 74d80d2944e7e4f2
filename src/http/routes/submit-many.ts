import { setImmediate } from 'node:timers/promises';
import type { JobToSubmit, SubmittedOne } from '../../client.js';
import { problem, TwsError } from '../../errors.js';
import { answerOf, Refused, type ProblemBody } from '../answers/problems.js';
import { mayHave } from '../access/owners.js';
import type { Principal } from '../access/principal.js';
import type { Api } from '../api.js';
import { mostDocuments } from '../limits.js';
import type { Answer } from '../route.js';
import { newJobOf, type NewJobOptions } from './new-job.js';

type Many = NewJobOptions & { readonly atomic: boolean };
type Verdict = {
  readonly status: number;
  readonly id?: string;
  readonly rev?: string;
  readonly problem?: ProblemBody;
};

/** Every document is checked before the first one is stored. */
export async function submitMany(
  api: Api,
  docs: readonly unknown[],
  options: Many,
): Promise<Answer> {
  if (docs.length > mostDocuments) {
    throw problem('bulk_too_many', { count: docs.length, most: mostDocuments });
  }
  const tried = await tryAll(docs, options);
  const jobs = tried.flatMap((one) => ('job' in one ? [one.job] : []));
  const hidden = new Set(await hiddenOf(api, jobs, options.principal));
  const checked = tried.map((one) => {
    const id = 'job' in one ? (one.job._id ?? '') : '';
    return hidden.has(id) ? refusal(problem('document_conflict', { id })) : one;
  });
  const good = checked.flatMap((one) => ('job' in one ? [one.job] : []));
  const refused = checked.length - good.length;
  if (options.atomic && refused > 0) {
    const { body, status } = answerOf(problem('bulk_refused', { refused, of: checked.length }));
    const results = checked.flatMap((one, index) => ('job' in one ? [] : [{ index, ...one }]));
    return { status, body: { ...body, results } };
  }
  const stored = await api.client.submitMany(good);
  let next = 0;
  const verdicts = checked.map((one) => {
    if (!('job' in one)) return one;
    const result = stored[next];
    next += 1;
    return result === undefined ? { status: 200 } : verdictOf(result);
  });
  return { status: 200, body: reportOf(verdicts) };
}

/** Ids of jobs that are taken by what somebody may not see; nothing more is told of it. */
export async function hiddenOf(
  { client }: Api,
  jobs: readonly JobToSubmit[],
  principal: Principal,
): Promise<readonly string[]> {
  const ids = jobs.flatMap(({ _id }) => _id ?? []);
  if (principal.owners === 'all' || ids.length === 0) return [];
  const docs = await client.getMany([...new Set(ids)]);
  return [...docs.values()].filter((doc) => !mayHave(principal, doc)).map(({ _id }) => _id);
}

type Tried = { readonly job: ReturnType<typeof newJobOf> } | Verdict;

/** So long documents are checked before others have their turn, ms. */
const turnMs = 20;

async function tryAll(docs: readonly unknown[], options: NewJobOptions): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  let began = performance.now();
  for (const doc of docs) {
    tried.push(tryOne(doc, options));
    if (performance.now() - began < turnMs) continue;
    await setImmediate();
    began = performance.now();
  }
  return tried;
}

function tryOne(doc: unknown, options: NewJobOptions): Tried {
  try {
    return { job: newJobOf(doc, options) };
  } catch (error) {
    if (error instanceof Refused) return refusal(error.cause, error.found);
    if (error instanceof TwsError) return refusal(error);
    throw error;
  }
}

function refusal(error: TwsError, found: Refused['found'] = []): Verdict {
  const { status, body } = answerOf(error, found);
  return { status, problem: body };
}

function verdictOf(one: SubmittedOne): Verdict {
  switch (one.kind) {
    case 'submitted':
      return { status: one.existed ? 200 : 201, id: one.id, rev: one.rev };
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
