import type { LiveJob } from '../../model/job.js';
import type { Problem } from '../../model/problems.js';

/**
 * Returns a copy of the job with one more entry in its `problems`; an equal entry is added once.
 */
export function withProblem(job: LiveJob, problem: Problem): LiveJob {
  const { problems = [] } = job;
  if (problems.some(({ message }) => message === problem.message)) return job;
  return { ...job, problems: [...problems, problem] };
}
