import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Log } from '../../log.js';
import { problem, problems, TwsError, type ProblemCode } from '../../errors.js';
import type { Problem } from '../../model/problems.js';

/** So many of the mistakes of one document are told, and so many warnings: nobody reads more. */
const mostListed = 100;

/** The first ones of a list of mistakes or warnings. */
export function firstMistakes<T>(found: readonly T[]): readonly T[] {
  return found.slice(0, mostListed);
}

/** What is wrong with a document or a request, with every place. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(
    override readonly cause: TwsError,
    /** JSON paths and sentences, the first one most important. */
    readonly found: readonly Problem[],
  ) {
    super(cause.message);
  }
}

/** The body of every answer that is none: `error` is a stable code, `reason` a sentence. */
export const problemSchema = z
  .object({
    error: z.string().describe('A stable code.'),
    reason: z.string().describe('What happened, in a sentence.'),
    hint: z.string().describe('What can be done about it.'),
    job: z.string().optional().describe('Id of the other job, where that is the problem.'),
    state: z.string().optional().describe('How the job stands, where that is the problem.'),
    path: z.string().optional().describe('JSON path of what is wrong, where it is one place.'),
    problems: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .describe(`What is wrong, with JSON paths; the first ${mostListed} of many.`),
  })
  .meta({ id: 'Problem' });
export type ProblemBody = z.infer<typeof problemSchema>;

/** An answer about a problem. */
export type ProblemAnswer = { readonly status: number; readonly body: ProblemBody };

/** Says what is wrong with a document. @throws Refused, of the row `document_invalid` */
export function refuseDocument(kind: string, found: readonly Problem[]): never {
  throw refusedDocument(kind, found);
}

/** What is wrong with a document, of the row `document_invalid`. */
export function refusedDocument(kind: string, found: readonly Problem[]): Refused {
  const first = found[0]?.message ?? '';
  const more = Math.max(0, found.length - 1);
  return new Refused(problem('document_invalid', { kind, first, more }), found);
}

/**
 * The answer for anything that was thrown. What concerns our database is the operator's business and
 * goes into the log; what nobody expected, too, and the answer tells a reference to it.
 */
export function toAnswer(error: unknown, log: Log): ProblemAnswer {
  if (error instanceof Refused) return answerOf(error.cause, error.found);
  if (!(error instanceof TwsError)) {
    const reference = randomUUID();
    const about = { reference, error: error instanceof Error ? error.stack : String(error) };
    log.error(about, 'The API met something unexpected.');
    return answerOf(problem('unexpected', { reference }));
  }
  if (!ofDatabase.has(error.code)) return answerOf(error);
  log.warn({ code: error.code }, error.message);
  const isOld = error.code === 'view_missing';
  return answerOf(isOld ? problem('database_old', {}) : problem('database_away', {}));
}

/** An answer of the table. */
export function answerOf(error: TwsError, found: readonly Problem[] = []): ProblemAnswer {
  const { code, message, hint, status, job, state } = error;
  const path = found[0]?.path;
  return {
    status,
    body: {
      error: code,
      reason: message,
      hint,
      ...(job === undefined ? {} : { job }),
      ...(state === undefined ? {} : { state }),
      ...(path === undefined || path === '' ? {} : { path }),
      ...(found.length === 0 ? {} : { problems: [...firstMistakes(found)] }),
    },
  };
}

/** HTTP status of a row. */
export function statusOfProblem(code: ProblemCode): number {
  return ofDatabase.has(code) ? problems.database_away.status : problems[code].status;
}

const ofDatabase: ReadonlySet<ProblemCode> = new Set([
  'couch_unreachable',
  'couch_unauthorized',
  'couch_locked',
  'couch_not_admin',
  'couch_forbidden',
  'couch_failed',
  'database_missing',
  'view_missing',
]);
