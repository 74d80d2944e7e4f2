import type { Outcome, PluginFailure } from './api.js';

type Failed = Extract<Outcome, { kind: 'failed' }>;

/** Longer messages (a server's page, say) are cut: they are stored in the job document. */
const longestMessage = 4000;

/** Turns whatever a plugin threw, an Error or not, into the outcome of its attempt. */
export function toFailed(thrown: unknown): Failed {
  const told = properties(thrown);
  const retryAfter = told.retryAfter;
  return {
    kind: 'failed',
    failure: toFailure(thrown, told),
    ...(typeof told.retryable === 'boolean' ? { retryable: told.retryable } : {}),
    ...(typeof retryAfter === 'number' && retryAfter >= 0 && Number.isFinite(retryAfter)
      ? { retryAfterMs: Math.round(retryAfter) }
      : {}),
    ...(isExit(told.exit) ? { exit: told.exit } : {}),
  };
}

/** Whether a value can be the exit of a step: a whole number from 0 to 255. */
export function isExit(code: unknown): code is number {
  return Number.isInteger(code) && (code as number) >= 0 && (code as number) <= 255;
}

type Told = Readonly<
  Record<'name' | 'message' | 'code' | 'retryable' | 'retryAfter' | 'exit', unknown>
>;

function toFailure(thrown: unknown, told: Told): PluginFailure {
  const name = text(told.name) ?? 'Error';
  const message = text(told.message) ?? saying(thrown);
  const code = told.code;
  return {
    name,
    message: message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
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
  return {
    name: read('name'),
    message: read('message'),
    code: read('code'),
    retryable: read('retryable'),
    retryAfter: read('retryAfter'),
    exit: read('exit'),
  };
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
