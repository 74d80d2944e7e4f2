import { redactor, type Redact } from '../secrets/redaction.js';
import type { HistoryEvent } from '../model/history.js';
import type { PluginContext } from './api.js';
import { pluginProblem } from './failures.js';
import { renderer } from './render.js';

type Json = Readonly<Record<string, unknown>>;

/** What the engine knows about one attempt. */
export type ContextInput = {
  /** Rendered and decrypted parameters; handed to the plugin as they are. */
  readonly params: Json;
  /** The texts that were decrypted for `params`. */
  readonly clear?: readonly string[];
  readonly job: Json;
  readonly step: Json;
  readonly results: Json;
  readonly parentResults?: unknown;
  readonly item?: unknown;
  readonly history?: readonly HistoryEvent[];
  readonly signal: AbortSignal;
  readonly log: PluginContext['log'];
  readonly heartbeat: PluginContext['heartbeat'];
  readonly key: string;
  readonly cwd: string;
  readonly exit?: PluginContext['exit'];
};

/**
 * Builds the context of one attempt, and the function that hides its secrets, which `runPlugin`
 * takes too. `job`, `step` and `results` become frozen copies: a plugin cannot change the engine's.
 */
export function createContext(input: ContextInput): {
  readonly context: PluginContext;
  readonly redact: Redact;
} {
  const clear = [...(input.clear ?? [])];
  const redact = redactor(clear);
  const { params, signal, key, cwd } = input;
  const [job, step, results] = [input.job, input.step, input.results].map(frozenCopy) as [
    Json,
    Json,
    Json,
  ];
  const above = { parent_results: input.parentResults ?? [], item: input.item };
  const context: PluginContext = {
    params,
    job,
    step,
    results,
    signal,
    key,
    cwd,
    log: (message, data) =>
      data === undefined ? input.log(redact(message)) : input.log(redact(message), redact(data)),
    heartbeat: (details) => input.heartbeat(redact(details)),
    secret: (path) => {
      const text = textAt(params, path);
      if (!clear.includes(text)) clear.push(text);
      return text;
    },
    render: renderer({ job, step, params, results, ...above }),
    exit: input.exit ?? (() => undefined),
    ...(input.item === undefined ? {} : { item: frozenCopy(input.item) }),
    ...(input.history === undefined ? {} : { history: frozenCopy(input.history) }),
  };
  return { context, redact };
}

function textAt(params: Json, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>(
      (inner, key) =>
        typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key)
          ? (inner as Json)[key]
          : undefined,
      params,
    );
  if (typeof value !== 'string') throw pluginProblem('SecretMissing', { path });
  return value;
}

function frozenCopy<T>(value: T): T {
  return deepFreeze(structuredClone(value));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
