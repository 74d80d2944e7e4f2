import { failureKinds } from '../model/catalogue.js';
import { timeSchema, toEpochMs } from '../model/scalars.js';
import { shortened } from '../words.js';
import type { PluginOutcome, PluginFailure } from './api.js';
import { pluginProblem } from './failures.js';
import { errorPlace } from './place.js';

/** The outcome of an attempt that failed. */
export type Failed = Extract<PluginOutcome, { kind: 'failed' }>;

/** Longer messages (a server's page, say) are cut: they are stored in the job document. */
const longestMessage = 4000;

/**
 * Turns whatever a plugin threw, an Error or not, into the outcome of its attempt. `folder`: that of
 * the project, for the place in it where the error was made.
 */
export function toFailed(thrown: unknown, folder?: string): Failed {
  const known = properties(thrown);
  const at = folder === undefined ? undefined : errorPlace(thrown, folder);
  const retryAfterMs = msFromNow(known.retryAfter);
  return {
    kind: 'failed',
    failure: { ...toFailure(thrown, known), ...(at === undefined ? {} : { at }) },
    ...(typeof known.retryable === 'boolean' ? { retryable: known.retryable } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isExit(known.exit) ? { exit: known.exit } : {}),
  };
}

/** The same of what a plugin threw where nobody could catch it. */
export function uncaught(plugin: string, thrown: unknown, folder?: string): Failed {
  const { failure, ...more } = toFailed(thrown, folder);
  const { name, message, ...known } = failure;
  const failed = toFailed(pluginProblem('UncaughtInPlugin', { plugin, name, message }));
  return { ...failed, ...more, failure: { ...known, ...failed.failure } };
}

/** Whether a value can be the exit of a step: a whole number from 0 to 255. */
export function isExit(code: unknown): code is number {
  return Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 255;
}

/** A number is ms from now; a Date, or a time in ISO 8601 with a zone, is when it is to be. */
function msFromNow(retryAfter: unknown): number | undefined {
  if (typeof retryAfter === 'number') {
    return retryAfter >= 0 && Number.isFinite(retryAfter) ? Math.round(retryAfter) : undefined;
  }
  const time = retryAfter instanceof Date ? retryAfter.getTime() : timeSchema.safeParse(retryAfter);
  const at = typeof time === 'number' ? time : time.success ? toEpochMs(time.data) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

const heeded = ['name', 'message', 'code', 'kind', 'retryable', 'retryAfter', 'exit'] as const;
type ErrorProperties = Readonly<Record<(typeof heeded)[number], unknown>>;

function toFailure(thrown: unknown, error: ErrorProperties): PluginFailure {
  const name = text(error.name) ?? 'Error';
  const message = text(error.message) ?? saying(thrown);
  const code = error.code;
  const kind = failureKinds.find((known) => known === error.kind);
  return {
    name,
    message: shortened(message, longestMessage),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(kind === undefined ? {} : { kind }),
  };
}

/** Reads each property once; a getter that throws counts as absent. */
function properties(thrown: unknown): ErrorProperties {
  const read = (key: string): unknown => {
    try {
      return typeof thrown === 'object' && thrown !== null
        ? (thrown as Record<string, unknown>)[key]
        : undefined;
    } catch {
      return undefined;
    }
  };
  return Object.fromEntries(heeded.map((key) => [key, read(key)])) as ErrorProperties;
}

/** A message for what carries none: a thrown text is the message itself. */
function saying(thrown: unknown): string {
  if (typeof thrown === 'string' && thrown !== '') return thrown;
  if (thrown instanceof Error) return 'The error has no message.';
  try {
    return `It threw ${JSON.stringify(thrown) ?? String(thrown)} instead of an error.`;
  } catch {
    return 'It threw something that is no error.';
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;
