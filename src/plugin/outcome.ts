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
  const told = properties(thrown);
  const at = folder === undefined ? undefined : errorPlace(thrown, folder);
  const retryAfterMs = msFromNow(told.retryAfter);
  return {
    kind: 'failed',
    failure: { ...toFailure(thrown, told), ...(at === undefined ? {} : { at }) },
    ...(typeof told.retryable === 'boolean' ? { retryable: told.retryable } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(isExit(told.exit) ? { exit: told.exit } : {}),
  };
}

/** The same of what a plugin threw where nobody could catch it. */
export function uncaught(plugin: string, thrown: unknown, folder?: string): Failed {
  const { failure, ...more } = toFailed(thrown, folder);
  const { name, message, ...known } = failure;
  const told = toFailed(pluginProblem('UncaughtInPlugin', { plugin, name, message }));
  return { ...told, ...more, failure: { ...known, ...told.failure } };
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
type Told = Readonly<Record<(typeof heeded)[number], unknown>>;

function toFailure(thrown: unknown, told: Told): PluginFailure {
  const name = text(told.name) ?? 'Error';
  const message = text(told.message) ?? saying(thrown);
  const code = told.code;
  const kind = failureKinds.find((known) => known === told.kind);
  return {
    name,
    message: shortened(message, longestMessage),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(kind === undefined ? {} : { kind }),
  };
}

/** Reads each property once; a getter that throws counts as absent. */
function properties(thrown: unknown): Told {
  const read = (key: string): unknown => {
    try {
      return typeof thrown === 'object' && thrown !== null
        ? (thrown as Record<string, unknown>)[key]
        : undefined;
    } catch {
      return undefined;
    }
  };
  return Object.fromEntries(heeded.map((key) => [key, read(key)])) as Told;
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
