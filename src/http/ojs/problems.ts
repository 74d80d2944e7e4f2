import { z } from 'zod';
import type { ProblemCode } from '../../errors.js';
import { statusOfProblem, type ProblemAnswer } from '../answers/problems.js';

/*
 * Errors as the Open Job Spec writes them (HTTP binding, section 16). Codes that it does not know begin
 * with "x_", as it asks.
 */

export const ojsErrorSchema = z
  .object({
    error: z.object({
      code: z.string(),
      message: z.string(),
      retryable: z.boolean(),
      hint: z.string().describe('What can be done about it.'),
      details: z
        .object({
          reason: z.string().describe('The code of the problem in the API of TWS.'),
          field: z.string().optional(),
          existing_job_id: z.string().optional().describe('The job that is there already.'),
          problems: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
        })
        .describe('What TWS itself says about it.'),
      request_id: z.string(),
    }),
  })
  .meta({ id: 'OjsError' });

/** These have another status here. */
const statuses: Readonly<Partial<Record<ProblemCode, number>>> = {
  media_type_unknown: 400,
  document_invalid: 400,
  document_refused: 400,
};

const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'x_unauthenticated',
  403: 'x_permission_denied',
  404: 'not_found',
  405: 'x_method_not_allowed',
  409: 'invalid_request',
  413: 'x_payload_too_large',
  422: 'unsupported',
  429: 'rate_limited',
};

const duplicates: ReadonlySet<string> = new Set(['ojs_duplicate', 'id_taken', 'not_unique']);

/** The status of a row of the table in answers of the façade. */
export function ojsStatusOf(code: ProblemCode): number {
  return statuses[code] ?? statusOfProblem(code);
}

/** A problem in the form of the Open Job Spec. */
export function ojsErrorOf(
  { status: own, body }: ProblemAnswer,
  requestId: string,
): { readonly status: number; readonly body: z.infer<typeof ojsErrorSchema> } {
  const { error: reason, reason: message, hint, path, problems, job } = body;
  const status = statuses[reason as ProblemCode] ?? own;
  const error = {
    code: duplicates.has(reason) ? 'duplicate' : (codes[status] ?? 'backend_error'),
    message,
    retryable: status === 429 || status >= 500,
    hint,
    details: {
      reason,
      ...(path === undefined ? {} : { field: path }),
      ...(job === undefined ? {} : { existing_job_id: job }),
      ...(problems === undefined ? {} : { problems }),
    },
    request_id: requestId,
  };
  return { status, body: { error } };
}
