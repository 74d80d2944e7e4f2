import { problem, TwsError } from '../../errors.js';
import type { LiveJob } from '../../model/job.js';
import { isSubjectReference, sensitiveNamesOf } from '../../model/sensitive.js';
import type { LiveStep } from '../../model/step.js';
import { defaultOwner } from '../../model/task.js';
import type { SensitiveTexts } from '../../plugin/sensitive.js';
import { isUnreadableValue } from '../../secrets/keyring.js';
import type { Library } from '../loop/library.js';
import type { Retry } from '../retry.js';

type Subject = { readonly owner: string; readonly subject: string };

/**
 * Opens sensitive values of a subject (its reference), in clear; what is not stored, or was purged, is undefined or left
 * out. Rejects with a TwsError.
 */
export type SensitiveValues = {
  readonly open: (of: Subject, name: string) => Promise<string | undefined>;
  /** The same after the access is on record. */
  readonly read: (
    asking: Subject & {
      readonly names: readonly string[];
      readonly who: string;
      readonly why?: string | undefined;
    },
  ) => Promise<SensitiveTexts>;
};

/** Which value, for which parameter of which document. */
export type SensitiveWanted = {
  readonly owner: string;
  readonly subject: unknown;
  readonly name: string;
  /** The parameter, for people. */
  readonly where: string;
};

/**
 * Opens a sensitive value; undefined: the engine ends first. Rejects with a TwsError when there is none, or nothing
 * that could open it; while the database does not answer, it waits.
 */
export type OpenSensitive = (wanted: SensitiveWanted) => Promise<string | undefined>;

export function openSensitive(retry: Retry, source: SensitiveValues | undefined): OpenSensitive {
  return async ({ owner, subject, name, where }) => {
    if (!isSubjectReference(subject)) throw problem('sensitive_subject_missing', { where, name });
    if (source === undefined) throw problem('sensitive_unset', { where });
    const of = { owner, subject };
    const found = await retry(async () => ({ value: await source.open(of, name) }), isFinal);
    if (found !== undefined && found.value === undefined) {
      throw problem('sensitive_gone', { where, name, subject, owner });
    }
    return found?.value;
  };
}

/** Answers what the plugin of an attempt asks for by itself. Rejects as `OpenSensitive` does. */
export type ReadSensitive = (
  job: LiveJob,
  step: LiveStep,
  names: readonly string[],
) => Promise<SensitiveTexts | undefined>;

type ReadSources = {
  readonly library: Pick<Library, 'stored'>;
  readonly retry: Retry;
  readonly source: SensitiveValues | undefined;
  /** The id of the engine. */
  readonly engine: string;
};

/**
 * The plugin may ask for what the stored task listed when the attempt began, and lists now: of the subject and the owner
 * of the job. Each answer is on record before it is given.
 */
export function createReadSensitive({
  library,
  retry,
  source,
  engine,
}: ReadSources): ReadSensitive {
  return async (job, step, names) => {
    const where = `Plugin ${step.plugin} of step ${step.name}`;
    const listed = listedFor(job, step, library);
    for (const name of names) {
      if (!listed.includes(name)) throw problem('sensitive_unlisted', { where, name });
    }
    const { subject } = job as { readonly subject?: unknown };
    const [name = ''] = names;
    if (!isSubjectReference(subject)) throw problem('sensitive_subject_missing', { where, name });
    if (source === undefined) throw problem('sensitive_unset', { where });
    const of = { owner: job.owner ?? job.flow_definition.owner, subject };
    const why = `plugin ${step.plugin}, job ${job._id}, step ${step.name}, attempt ${step.attempt}`;
    const asking = { ...of, names, who: `engine ${engine}`, why };
    const found = await retry(() => source.read(asking), isFinal);
    const missing = names.find((one) => found !== undefined && !Object.hasOwn(found, one));
    if (missing !== undefined) throw problem('sensitive_gone', { where, name: missing, ...of });
    return found;
  };
}

/** The names that the plugin may ask for. */
function listedFor(
  job: LiveJob,
  step: LiveStep,
  library: Pick<Library, 'stored'>,
): readonly string[] {
  const owner = job.definitions[step.task]?.owner ?? defaultOwner;
  if (owner !== job.owner && owner !== defaultOwner) return [];
  const now = sensitiveNamesOf(library.stored('task', step.task, owner) ?? {});
  const { sensitive } = step as { readonly sensitive?: unknown };
  return Array.isArray(sensitive) ? now.filter((name) => sensitive.includes(name)) : [];
}

/** Waiting does not mend it: somebody has to set it up, or to give a role or a key. */
function isFinal(error: unknown): boolean {
  return isUnreadableValue(error) || (error instanceof TwsError && final.has(error.code));
}

const final: ReadonlySet<string> = new Set([
  'sensitive_missing',
  'sensitive_closed',
  'crypto_key_missing',
]);
