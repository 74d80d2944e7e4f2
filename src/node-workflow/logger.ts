import { format } from 'node:util';
import type { PluginContext } from '../plugin/api.js';

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** Logs as bunyan does: an object or an error may come before the text and its values. */
export type JobLogger = Readonly<
  Record<(typeof levels)[number], (...parts: readonly unknown[]) => void>
> & { readonly child: (...parts: readonly unknown[]) => JobLogger };

/** The levels that a log of a plugin has. */
const known: Readonly<Partial<Record<string, string>>> = { trace: 'debug', fatal: 'error' };

/** Makes `job.log`. */
export function createLogger(log: PluginContext['log']): JobLogger {
  const lines = levels.map((level) => {
    const write = (...parts: readonly unknown[]): void => {
      const [first, ...rest] = parts;
      const isData = typeof first === 'object' && first !== null;
      const data = isData ? dataOf(first) : {};
      const given = isData ? rest : parts;
      const text = given.length > 0 ? format(...given) : 'message' in data ? data.message : level;
      log(String(text), { ...data, level: known[level] ?? level });
    };
    return [level, write] as const;
  });
  const logger = { ...Object.fromEntries(lines), child: () => logger } as JobLogger;
  return logger;
}

function dataOf(value: object): Readonly<Record<string, unknown>> {
  if (!(value instanceof Error)) return value as Readonly<Record<string, unknown>>;
  return { name: value.name, message: value.message };
}
