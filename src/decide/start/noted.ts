import { isObject } from '../../model/object.js';
import type { Problem } from '../../model/problems.js';

/**
 * Returns a copy of the job with one more entry in its `problems`; an equal entry is added once.
 */
export function withProblem<J extends object>(job: J, problem: Problem): J {
  const { problems } = job as { readonly problems?: unknown };
  // A final job is not parsed: anything may be in its fields.
  const list: readonly unknown[] = Array.isArray(problems) ? problems : [];
  if (list.some((one) => isObject(one) && one['message'] === problem.message)) return job;
  return { ...job, problems: [...list, problem] };
}
