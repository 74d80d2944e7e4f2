import type { Requested } from '../client.js';
import type { StoredDocument } from '../model/document.js';
import { TwsError } from '../errors.js';
import type { Io } from './io.js';
import { jobFacts, jobLine } from './jobs.js';

/** What is told of a job to which a request was applied, line by line and as JSON. */
export type AppliedTo = (job: StoredDocument) => {
  readonly lines: readonly string[];
  readonly json: object;
};

/** Asks for each job; one that refuses does not keep the others from it. Exit 1 when any refused. */
export async function eachJob(
  ids: readonly string[],
  io: Io,
  ask: (id: string) => Promise<Requested>,
  applied: AppliedTo = () => ({ lines: [], json: {} }),
): Promise<number> {
  const answers: unknown[] = [];
  let refusals = 0;
  for (const id of ids) {
    try {
      const requested = await ask(id);
      if (requested.kind === 'applied') {
        for (const line of applied(requested.job).lines) io.out(line);
        io.out(jobLine(requested.job, io));
        if (requested.notice !== undefined) io.warn(requested.notice);
      } else io.out(`stored: ${id}; no engine has taken the request yet, one will when it runs.`);
      answers.push(
        requested.kind === 'applied'
          ? {
              kind: 'applied',
              ...jobFacts(requested.job, Date.now()),
              ...applied(requested.job).json,
              ...defined({ notice: requested.notice }),
            }
          : { id, ...requested },
      );
    } catch (error) {
      if (!(error instanceof TwsError) || ids.length === 1) throw error;
      refusals += 1;
      io.warn(error.message);
      answers.push({ id, kind: 'refused', because: error.message });
    }
  }
  io.json(ids.length === 1 ? answers[0] : answers);
  return refusals > 0 ? 1 : 0;
}

/** What is there of it: an option that was not given is no part of a request. */
export function defined<T extends object>(given: T): Defined<T> {
  const there = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(there) as Defined<T>;
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };
