import type { Log } from '../log.js';

export type { Log };

/** A log whose every line says which engine it comes from, unless the line is about another one. */
export function ofEngine(log: Log, engine: string): Log {
  return {
    debug: (about, message) => log.debug({ engine, ...about }, message),
    info: (about, message) => log.info({ engine, ...about }, message),
    warn: (about, message) => log.warn({ engine, ...about }, message),
    error: (about, message) => log.error({ engine, ...about }, message),
  };
}
