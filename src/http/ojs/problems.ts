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
      type: z.string().optional().describe('validation_error: a retry policy that cannot be.'),
      message: z.string(),
      retryable: z.boolean(),
      hint: z.string().describe('What can be done about it.'),
      docs_url: z.string().describe('Path of the page about problems.'),
      details: z
        .object({
          reason: z.string().describe('The code of the problem in the API of TWS.'),
          field: z.string().optional(),
          current_state: z.string().optional().describe('How the job stands.'),
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
  409: 'conflict',
  413: 'x_payload_too_large',
  422: 'unsupported',
  429: 'rate_limited',
};

/** These have another code than their status says. */
const ownCodes: Readonly<Partial<Record<ProblemCode, string>>> = {
  ojs_duplicate: 'duplicate',
  id_taken: 'duplicate',
  not_unique: 'duplicate',
  ojs_cron_taken: 'duplicate',
  json_invalid: 'invalid_payload',
};

/** A retry policy that cannot be has a status and a type of its own (retry, section 7). */
const policyPath = /(?:^|\.)retry(?:_policy)?(?:\.|$)/;

/** Where the problems are described. */
const docsUrl = '/_tws/docs/reference/errors.html';

function codeOf(reason: ProblemCode, status: number): string {
  return ownCodes[reason] ?? codes[status] ?? 'backend_error';
}

/** The status of a row of the table in answers of the façade. */
export function ojsStatusOf(code: ProblemCode): number {
  return statuses[code] ?? statusOfProblem(code);
}

/** A problem in the form of the Open Job Spec. */
export function ojsErrorOf(
  { status: own, body }: ProblemAnswer,
  requestId: string,
): { readonly status: number; readonly body: z.infer<typeof ojsErrorSchema> } {
  const { error: reason, reason: message, hint, path, problems, job, state } = body;
  const isPolicy = reason === 'request_invalid' && policyPath.test(path ?? '');
  const status = isPolicy ? 422 : (statuses[reason as ProblemCode] ?? own);
  const error = {
    code: isPolicy ? 'invalid_request' : codeOf(reason as ProblemCode, status),
    ...(isPolicy ? { type: 'validation_error' } : {}),
    message,
    retryable: status === 429 || status >= 500,
    hint,
    docs_url: docsUrl,
    details: {
      reason,
      ...(path === undefined ? {} : { field: path }),
      ...(state === undefined ? {} : { current_state: state }),
      ...(job === undefined ? {} : { existing_job_id: job }),
      ...(problems === undefined ? {} : { problems }),
    },
    request_id: requestId,
  };
  return { status, body: { error } };
}
