import { contentOnItsWay } from '../model/big-result.js';
import type { LiveJob } from '../model/job.js';

/** What an attachment of the job holds, as far as it is known. */
export function contentOf(
  job: LiveJob,
  contents: ReadonlyMap<string, unknown>,
  name: string,
): { readonly value: unknown } | undefined {
  return contents.has(name)
    ? { value: contents.get(name) }
    : contentOnItsWay(job._attachments, name);
}
