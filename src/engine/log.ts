/** Where an engine says what it does: the part of a pino logger that it uses. */
export type Log = {
  readonly debug: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly info: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly warn: (about: Readonly<Record<string, unknown>>, message: string) => void;
  readonly error: (about: Readonly<Record<string, unknown>>, message: string) => void;
};

/** A log whose every line says which engine it comes from, unless the line is about another one. */
export function ofEngine(log: Log, engine: string): Log {
  return {
    debug: (about, message) => log.debug({ engine, ...about }, message),
    info: (about, message) => log.info({ engine, ...about }, message),
    warn: (about, message) => log.warn({ engine, ...about }, message),
    error: (about, message) => log.error({ engine, ...about }, message),
  };
}
