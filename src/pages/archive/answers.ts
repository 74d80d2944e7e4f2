import type { AnyDocument } from '../answers.js';
import type { LastPass } from '../../model/retention.js';
import type { EndedStatus, RetainLimit } from '../../model/retain.js';

/** What removes old jobs, as the API answers it. */
export type RetentionAnswer = {
  readonly configured: boolean;
  readonly problems: readonly { readonly flow: string; readonly message: string }[];
  readonly rules: readonly RuleAnswer[];
  readonly next?: number;
  readonly running?: { readonly by: string; readonly since: number; readonly until: number };
  readonly last?: LastPass;
};

/** What is kept of a flow's jobs; without `flow`: of those whose flow says nothing. */
export type RuleAnswer = {
  readonly flow?: string;
  readonly limits: Readonly<Partial<Record<EndedStatus, RetainLimit>>>;
  readonly archive?: string;
};

/** A job in an archive, as the API answers it. */
export type ArchivedAnswer = {
  readonly job: string;
  readonly flow: string;
  readonly owner: string;
  readonly status: EndedStatus;
  readonly start: number | null;
  readonly end: number;
  readonly documents: number;
  readonly archive: string;
  readonly at: number;
};

/** One with its documents, the job first. */
export type ArchivedWhole = ArchivedAnswer & { readonly docs: readonly AnyDocument[] };

/** Path of an archived job in the API, and of its page. */
export function archivedPath(job: string): string {
  return `archive/${encodeURIComponent(job)}`;
}
