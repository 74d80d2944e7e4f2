import { format, inspect, type InspectOptions } from 'node:util';
import type { PluginContext } from './api.js';
import { attributionOf, type Attribution } from './attribution.js';

type Log = PluginContext['log'];

/** The others, as `table` and `trace`, print by these. */
const levels = {
  ...{ log: 'info', info: 'info', dir: 'info', dirxml: 'info' },
  ...{ warn: 'warn', error: 'error', debug: 'debug' },
} as const;
type Method = keyof typeof levels;
type Print = (...texts: readonly unknown[]) => void;

/** The log of the attempt that prints; of a plugin outside an attempt `outside`. */
export function consoleLog(outside: (attribution: Attribution) => Log): Log | undefined {
  const attribution = attributionOf();
  if (attribution === undefined) return undefined;
  return attribution.log ?? outside(attribution);
}

/**
 * Where the lines of plugins go that are shown to a person: each with the name of its plugin, without
 * the secrets of its attempt. What is not a plugin's is printed as before.
 */
export function shownConsole(show: (line: string) => void): () => Log | undefined {
  return () => {
    const attribution = attributionOf();
    if (attribution === undefined) return undefined;
    const { plugin, redact = (text) => text } = attribution;
    return (message) => {
      for (const line of redact(message).split('\n')) show(`${plugin}: ${line}`);
    };
  };
}

/**
 * Takes over the methods of `console` that print lines. `logOf` says where a line goes; where it says
 * undefined, it is printed as before. Warnings and errors carry `level`. The answer undoes it.
 */
export function captureConsole(logOf: () => Log | undefined): () => void {
  const undo = (Object.keys(levels) as Method[]).map((method) => {
    const { [method]: print } = console as Readonly<Record<Method, Print>>;
    const level = levels[method];
    console[method] = (...texts: readonly unknown[]) => {
      const log = logOf();
      if (log === undefined) return print(...texts);
      const text = method === 'dir' ? inspected(...texts) : format(...texts);
      log(text, ...(level === 'info' ? [] : [{ level }]));
    };
    return () => {
      console[method] = print;
    };
  });
  return () => undo.forEach((back) => back());
}

/** What `console.dir` prints. */
function inspected(value?: unknown, options?: unknown): string {
  return inspect(value, { customInspect: false, ...(options as InspectOptions | undefined) });
}
