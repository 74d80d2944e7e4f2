import { nameSchema } from '../model/scalars.js';
import { redactor, type Redact } from '../secrets/redaction.js';
import type { HistoryEvent } from '../model/history-event.js';
import type { FailureSeen, PluginContext } from './api.js';
import { noCode, type CodePolicy } from './code-policy.js';
import { Detour } from './detour.js';
import { Done } from './done.js';
import { usualEgress, type EgressPolicy } from './egress.js';
import { pluginProblem } from './failures.js';
import { toJson } from './json.js';
import { renderer } from './render.js';
import {
  askingFor,
  hidesFor,
  type AskSensitive,
  type Hide,
  type LateTemplate,
} from './sensitive.js';
import { getEventListeners } from 'node:events';

type Json = Readonly<Record<string, unknown>>;

/** What the engine knows about one attempt. */
export type ContextInput = {
  /** Rendered and decrypted parameters; handed to the plugin as they are. */
  readonly params: Json;
  /** What templates see of them: references in place of secrets; default: `params`. */
  readonly shown?: Json;
  /** The texts that were decrypted for `params`. */
  readonly clear?: readonly string[];
  readonly job: Json;
  readonly step: Json;
  readonly results: Json;
  readonly parentResults?: Json;
  readonly failure?: FailureSeen;
  readonly item?: unknown;
  /** What templates of a notification see of the form that it tells of. */
  readonly form?: Json;
  readonly history?: readonly HistoryEvent[];
  readonly signal: AbortSignal;
  readonly log: PluginContext['log'];
  /** Takes details in the form of JSON, without secrets, and takes what has come for `signal`. */
  readonly heartbeat: (details?: unknown) => void;
  readonly progress?: PluginContext['progress'];
  /** Takes changes in the form of JSON, without secrets. */
  readonly setData?: PluginContext['setData'];
  readonly setStatus?: PluginContext['setStatus'];
  readonly lastDetails?: unknown;
  readonly key: string;
  readonly cwd: string;
  /** Absent: what holds without settings. */
  readonly egress?: EgressPolicy | undefined;
  /** Absent: nothing is allowed. */
  readonly code?: CodePolicy | undefined;
  readonly exit?: PluginContext['exit'];
  /** Answers `context.sensitive`; absent: there are no sensitive values. */
  readonly sensitive?: AskSensitive | undefined;
  /** Templates that read sensitive values, which the plugin renders. */
  readonly late?: readonly LateTemplate[] | undefined;
  /** Hears of each text that is to be hidden since the plugin was called. */
  readonly onSecret?: Hide | undefined;
};

/** What of a context is made when it is looked at. */
type Made = {
  -readonly [K in 'job' | 'step' | 'results' | 'parent_results' | 'render']: PluginContext[K];
};

/**
 * Builds the context of one attempt, and the function that hides its secrets, which `runPlugin`
 * takes too. `job`, `step` and `results` become frozen copies: a plugin cannot change the engine's.
 */
export function createContext(input: ContextInput): {
  readonly context: PluginContext;
  readonly redact: Redact;
} {
  const { redact, hide } = hiding(input);
  const { params, shown = params, key, cwd } = input;
  const signal = stopSignal(input.signal);
  const above = {
    item: input.item,
    ...(input.form === undefined ? {} : { form: input.form }),
    ...(input.failure === undefined ? {} : { failure: frozenCopy(input.failure) }),
  };
  // Most plugins look at their parameters only, and a job may be large.
  const made: Partial<Made> = {};
  const context: PluginContext = {
    params,
    get job() {
      return (made.job ??= frozenCopy(input.job));
    },
    get step() {
      return (made.step ??= frozenCopy(input.step));
    },
    get results() {
      return (made.results ??= frozenCopy(input.results));
    },
    get parent_results() {
      return (made.parent_results ??= frozenCopy(input.parentResults ?? {}));
    },
    signal,
    key,
    cwd,
    egress: input.egress ?? usualEgress,
    code: input.code ?? noCode,
    ...reports(input, redact, signal),
    lastDetails: input.lastDetails === undefined ? undefined : frozenCopy(input.lastDetails),
    secret: (path) => {
      const text = textAt(params, path);
      hide(text);
      return text;
    },
    sensitive: askingFor(input.sensitive, hide),
    get render() {
      const late = { late: input.late ?? [], hide };
      return (made.render ??= renderer(() => {
        const { job, step, results, parent_results } = context;
        return { job, step, params: shown, results, parent_results, ...above };
      }, late));
    },
    ...detours((details) => redact(asDetails(details))),
    done: (result) => new Done(result),
    exit: input.exit ?? (() => undefined),
    ...(above.failure === undefined ? {} : { failure: above.failure }),
    ...(input.item === undefined ? {} : { item: frozenCopy(input.item) }),
    ...(input.history === undefined ? {} : { history: frozenCopy(input.history) }),
  };
  hidesFor(context, hide);
  return { context, redact };
}

/** What hides texts in all that an attempt says: those that are secret from the beginning, and what is added to them. */
function hiding({ clear: given = [], onSecret }: Pick<ContextInput, 'clear' | 'onSecret'>): {
  readonly redact: Redact;
  readonly hide: Hide;
} {
  const clear = [...given];
  let redacted: Redact | undefined;
  return {
    redact: (value) => (clear.length === 0 ? value : (redacted ??= redactor(clear))(value)),
    hide: (text) => {
      if (clear.includes(text)) return;
      clear.push(text);
      onSecret?.(text);
    },
  };
}

type Reports = Pick<PluginContext, 'log' | 'heartbeat' | 'setData' | 'setStatus' | 'progress'>;

/** The functions by which a plugin tells how far it is; what they are given is kept without secrets. */
function reports(input: ContextInput, redact: Redact, signal: AbortSignal): Reports {
  return {
    log: (message, data) => {
      const line = redact(asText(message));
      const known = asData(data);
      return known === undefined ? input.log(line) : input.log(line, redact(known));
    },
    heartbeat: (details) => {
      input.heartbeat(details === undefined ? undefined : redact(asDetails(details)));
      signal.throwIfAborted();
    },
    setData: (changes, options) => input.setData?.(redact(asChanges(changes)), options),
    setStatus: (status) =>
      input.setStatus?.(status === null ? null : String(asProgress(redact(asText(status))))),
    progress: (progress) =>
      input.progress?.(
        asProgress(redact(typeof progress === 'number' ? progress : asText(progress))),
      ),
  };
}

type Makers = Pick<PluginContext, 'wait' | 'requeue' | 'restartJob'>;

/** The functions that make detours. `keepable` brings details into the form in which they are kept. */
function detours(keepable: (details: unknown) => unknown): Makers {
  return {
    wait: (signal, { timeout, details } = {}) => {
      const name = nameSchema.safeParse(signal);
      if (!name.success) throw invalid('wait', `the signal ${reasonOf(name.error.issues)}`);
      return new Detour({
        kind: 'wait',
        signal: name.data,
        ...(timeout === undefined ? {} : { timeoutMs: duration('wait', 'timeout', timeout) }),
        ...(details === undefined ? {} : { details: keepable(details) }),
      });
    },
    requeue: ({ delay = 0 } = {}) =>
      new Detour({ kind: 'requeue', delayMs: duration('requeue', 'delay', delay) }),
    restartJob: ({ delay = 0 } = {}) =>
      new Detour({ kind: 'restart', delayMs: duration('restartJob', 'delay', delay) }),
  };
}

/** A year; who waits longer waits without a limit. */
const longestMs = 31_536_000_000;

function duration(maker: string, name: string, ms: unknown): number {
  if (typeof ms === 'number' && ms >= 0 && ms <= longestMs) return Math.round(ms);
  throw invalid(maker, `${name} must be milliseconds, from 0 to ${longestMs}`);
}

const invalid = (maker: string, problem: string) =>
  pluginProblem('DetourInvalid', { maker, problem });

const reasonOf = (issues: readonly { readonly message: string }[]): string =>
  issues[0]?.message ?? 'is not valid';

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

/** Details larger than this (UTF-8 of their JSON) belong where the plugin keeps its own data. */
const mostDetailsBytes = 16_384;

function asDetails(details: unknown): unknown {
  const json = toJson(details);
  if (!json.ok) throw pluginProblem('DetailsInvalid', { problem: `${json.at} is ${json.what}` });
  const bytes = Buffer.byteLength(JSON.stringify(json.value));
  if (bytes <= mostDetailsBytes) return json.value;
  const problem = `they are ${bytes} bytes long, and ${mostDetailsBytes} is the most`;
  throw pluginProblem('DetailsInvalid', { problem });
}

/** Changes larger than this (UTF-8 of their JSON) belong in a result. */
const mostDataBytes = 65_536;

function asChanges(changes: unknown): Json {
  const json = toJson(changes);
  const refuse = (problem: string): never => {
    throw pluginProblem('DataInvalid', { problem });
  };
  if (!json.ok) return refuse(`${json.at} is ${json.what}`);
  const { value } = json;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse('they must be an object of keys to set');
  }
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return bytes <= mostDataBytes
    ? (value as Json)
    : refuse(`they are ${bytes} bytes long, and ${mostDataBytes} is the most`);
}

const longestProgress = 200;

/** What is no number becomes a short text. */
function asProgress(progress: unknown): number | string {
  if (typeof progress === 'number' && Number.isFinite(progress)) return progress;
  const text = asText(progress);
  return text.length > longestProgress ? `${text.slice(0, longestProgress)}…` : text;
}

/** A plugin without types may give anything. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  const json = toJson(value);
  return json.ok ? JSON.stringify(json.value) : String(value);
}

/** What beside a line can be shown; a line is not worth a failure. */
function asData(data: unknown): Json | undefined {
  const json = toJson(data);
  const shown = json.ok ? json.value : undefined;
  return typeof shown === 'object' && shown !== null ? (shown as Json) : undefined;
}

function frozenCopy<T>(value: T): T {
  const copy = structuredClone(value);
  if (typeof copy === 'object' && copy !== null) deepFreeze(copy);
  return copy;
}

function deepFreeze(value: object): void {
  Object.freeze(value);
  for (const inner of Object.values(value) as readonly unknown[]) {
    if (typeof inner === 'object' && inner !== null && !Object.isFrozen(inner)) deepFreeze(inner);
  }
}

/** Signals whose plugins know that they were told to stop. */
const noticed = new WeakSet<AbortSignal>();

/**
 * A signal for a plugin that aborts together with the engine's and keeps whether the plugin noticed:
 * it had a listener on the signal at that moment, or has since read `aborted` or `reason` or called
 * `throwIfAborted`. `timers/promises` and `spawn` listen on behalf of the plugin that passed the signal
 * to them, until they are done. What `AbortSignal.any` made of it counts as the signal itself.
 * `fetch` and `Request` leave their listener behind until it is collected as garbage, and nothing tells
 * one that has ended from one that is under way: it counts as listening, because work that is done
 * twice is better than work that is lost.
 */
export function stopSignal(given: AbortSignal): AbortSignal {
  const own = new AbortController();
  const { signal } = own;
  const notice = (): void => void noticed.add(signal);
  watchReads(signal, notice);
  const abort = (): void => {
    const all = [signal, ...dependantsOf(signal)];
    if (all.some((one) => getEventListeners(one, 'abort').length > 0)) notice();
    for (const one of all.slice(1)) watchReads(one, notice);
    own.abort(given.reason);
  };
  if (given.aborted) abort();
  else given.addEventListener('abort', abort, { once: true });
  return signal;
}

/** Whether the plugin that got this signal (of `stopSignal`) noticed that it was told to stop. */
export function noticedStop(signal: AbortSignal): boolean {
  return noticed.has(signal);
}

/** Has `notice` called when the signal is asked about its abort. */
function watchReads(signal: AbortSignal, notice: () => void): void {
  const read = (key: 'aborted' | 'reason'): unknown => {
    if (Reflect.get(AbortSignal.prototype, 'aborted', signal) === true) notice();
    return Reflect.get(AbortSignal.prototype, key, signal);
  };
  const throwIfAborted = (): void => {
    if (read('aborted') === true) throw read('reason');
  };
  Object.defineProperties(signal, {
    aborted: { get: () => read('aborted') },
    reason: { get: () => read('reason') },
    throwIfAborted: { value: throwIfAborted },
  });
}

/** What `AbortSignal.any` made of this signal and is still used: Node keeps it under a symbol. */
function dependantsOf(signal: AbortSignal): readonly AbortSignal[] {
  const key = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  const kept: unknown = key === undefined ? undefined : Reflect.get(signal, key);
  // A set of Node's own, which is no instance of `Set`.
  const references = (kept ?? new Set()) as ReadonlySet<WeakRef<AbortSignal>>;
  const found: AbortSignal[] = [];
  references.forEach((reference) => {
    const dependant = reference.deref();
    if (dependant !== undefined) found.push(dependant);
  });
  return found;
}
