/** Where engines and the HTTP API say what they do: the part of a pino logger that they use. */
export type Log = {
  /** Returns a log whose every line has these fields. */
  readonly child?: (fields: Readonly<Record<string, unknown>>) => Log;
  readonly debug: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly info: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly warn: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (about: Readonly<Record<string, unknown>>, message: string) => void;
};

/** Returns a log whose every line has these fields, too. */
export function withFields(log: Log, fields: Readonly<Record<string, unknown>>): Log {
  if (log.child !== undefined) return log.child(fields);
  return {
    debug: (about, message) => log.debug({ ...fields, ...about }, message),
    info: (about, message) => log.info({ ...fields, ...about }, message),
    warn: (about, message) => log.warn({ ...fields, ...about }, message),
    error: (about, message) => log.error({ ...fields, ...about }, message),
  };
}
