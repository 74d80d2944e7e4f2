import type { FailureKind } from '../model/catalogue.js';
import type { DetourOutcome } from '../model/detour-outcome.js';
import type { HistoryEvent } from '../model/history-event.js';
import type { JsonSchema } from '../model/scalars.js';
import type { FailureSeen } from '../model/step.js';
import type { Detour } from './detour.js';
import type { Done } from './done.js';
import type { CodePolicy } from './code-policy.js';
import type { EgressPolicy } from './egress.js';

export type { FailureSeen };

export type { HistoryEvent } from '../model/history-event.js';

/** Options of `context.render`. */
export type RenderOptions = {
  /** Escape `&`, `<`, `>` and quotes in what is filled in (`{{x}}`; `{{{x}}}` stays as it is). */
  readonly html?: boolean;
  /**
   * Objects that templates see, by dotted path, whose keys are names, too; the weakest first. With
   * `params`, `{{title}}` is `{{params.title}}`. Secret parameters are references there.
   */
  readonly namesOf?: readonly string[];
  /** Further names for the template, stronger than those of the step. */
  readonly data?: Readonly<Record<string, unknown>>;
};

/** Options of `context.wait`. */
export type WaitOptions = { readonly timeout?: number; readonly details?: unknown };

/**
 * What a plugin gets for one attempt of one step. `Params` is the shape that the plugin's exported
 * JSON Schema promises: parameters are checked against it before the plugin is called.
 */
export type PluginContext<Params = Readonly<Record<string, unknown>>> = {
  /** The step's parameters: templates filled in, secrets in clear. */
  readonly params: Params;
  /** The job document as it was when the attempt began; frozen. */
  readonly job: Readonly<Record<string, unknown>>;
  /** This attempt's entry of `job.steps`; frozen. */
  readonly step: Readonly<Record<string, unknown>>;
  /** Results of earlier steps by name; frozen. */
  readonly results: Readonly<Record<string, unknown>>;
  /**
   * Aborts on timeout, cancel and shutdown: pass it to whatever waits. A plugin that noticed (by a
   * listener, by reading `aborted`, by a heartbeat) and then returns has not completed its work: the
   * attempt counts as cancelled, or as released to be made again, unless it returns `done(result)`.
   */
  readonly signal: AbortSignal;
  /**
   * Writes a line to the engine's log, with the job and the step; secrets are hidden. The newest
   * lines (50, of 4 KiB together) are kept in the step as well.
   */
  readonly log: (message: string, data?: Readonly<Record<string, unknown>>) => void;
  /**
   * Says that a long attempt is alive, which a task with `heartbeat` must do that often. `details`
   * (JSON, 16 KiB at most) are kept in the step; the next attempt gets them as `lastDetails`. Throws
   * the reason of `signal` when the attempt is to end: it was cancelled or is too late, or the engine
   * stops. `signal.aborted` tells the same without throwing.
   */
  readonly heartbeat: (details?: unknown) => void;
  /** The details that the last attempt which gave some left behind; undefined when none did. */
  readonly lastDetails: unknown;
  /**
   * Changes `job.data`, which all tasks of the job share: each key is set, `null` takes it out. It is
   * stored together with the outcome, and only if that is a success; with `always` however the attempt
   * ends, where the engine lives to see it.
   */
  readonly setData: (
    changes: Readonly<Record<string, unknown>>,
    options?: { readonly always?: boolean },
  ) => void;
  /**
   * Sets `custom_status` of the job, a short text that lists show beside its status; `null` takes it away. It is
   * stored with the next report, and with the outcome, however the attempt ends.
   */
  readonly setStatus: (status: string | null) => void;
  /** Says how far the work is, as a number or a short text; kept in the step. */
  readonly progress: (progress: number | string) => void;
  /**
   * The text at a dotted path of `params`, in clear, and hidden from now on in everything this
   * attempt says, even when the document held it unencrypted. Throws `SecretMissing` for no text.
   */
  readonly secret: (path: string) => string;
  /**
   * Sensitive values of the subject of the job, in clear, by name: `const { iban } = await sensitive('iban')`. The task must
   * list the names in `sensitive`. Each call is on record with the job and the step, and the values are hidden from now
   * on in everything this attempt says. Rejects with `SecretUnreadable` where a value is missing or was purged.
   */
  readonly sensitive: (...names: readonly string[]) => Promise<Readonly<Record<string, string>>>;
  /** The idempotency key: the same for every attempt of this step. */
  readonly key: string;
  /**
   * Fills in a Handlebars template with `job`, `step`, `params`, `results`, `parent_results`,
   * `item` and `failure`. A name that is missing throws `TemplateError`.
   */
  readonly render: (template: string, options?: RenderOptions) => string;
  /**
   * To be returned or thrown: the step waits, without a slot, for a signal of that name, and what
   * the signal brings becomes its result. `timeout`: ms after which it fails instead
   * (`WaitTimeout`). `details` are kept in the step for whoever is to answer. A name that nobody
   * can guess makes a token of it.
   */
  readonly wait: (signal: string, options?: WaitOptions) => Detour;
  /**
   * To be returned or thrown: the attempt was in vain, without fault; the step begins again after
   * `delay` ms, which uses up no retry.
   */
  readonly requeue: (options?: { readonly delay?: number }) => Detour;
  /**
   * To be returned or thrown: the whole job begins anew from its first step, after `delay` ms; at
   * most as often as `restarts` of the flow says.
   */
  readonly restartJob: (options?: { readonly delay?: number }) => Detour;
  /**
   * To be returned: the work is complete with this result, although the plugin noticed that it was
   * told to stop.
   */
  readonly done: (result?: unknown) => Done;
  /** Sets the exit, 0 to 255, that this step (in a handler: the job) ends with. */
  readonly exit: (code: number) => void;
  /** Results of earlier steps by the position of the step in the flow; frozen. */
  readonly parent_results: Readonly<Record<string, unknown>>;
  /**
   * In handlers, undo tasks, callbacks and the cancel branch: what failed, or the cancel; frozen.
   * Every key is there, `null` where nothing is known.
   */
  readonly failure?: FailureSeen;
  /** In a map: the item that this step is for; frozen. */
  readonly item?: unknown;
  /** For deciders: what has happened in the job until this decision began; frozen. */
  readonly history?: readonly HistoryEvent[];
  /** Which addresses the project may reach: `fetchWithin` and `egressAgents` keep to it. */
  readonly egress: EgressPolicy;
  /** What the project allows of code and programs in documents. */
  readonly code: CodePolicy;
  /** The project's folder, absolute: where files named in parameters are looked for. */
  readonly cwd: string;
};

type MaybePromise<T> = T | Promise<T>;

/**
 * The function that does the work of a plugin: `@type {import('tws/plugin').Plugin<{name: string}>}`
 * in JavaScript, `const run: Plugin<{ name: string }> = …` in TypeScript.
 */
export type Plugin<Params = Readonly<Record<string, unknown>>, Result = unknown> = (
  context: PluginContext<Params>,
) => MaybePromise<Result>;

/**
 * What `verify` found: the work was done, with this result; it is to be looked at again after so many ms, which
 * uses up no retry; or it cannot be done, and trying again does not help.
 */
export type Verified =
  | { readonly done: unknown }
  | { readonly retry: number }
  | {
      readonly fail:
        | string
        | { readonly name?: string; readonly message: string; readonly code?: string | number };
    };

/** What a plugin's module exports; only `default` is needed. */
export type PluginModule = {
  /** Does the work; what it returns becomes `step.result` and must be JSON. */
  readonly default: (context: PluginContext) => unknown;
  /** One line for `tws list --plugins`. */
  readonly description?: string;
  /** Schema of `params`, checked before each call; a mismatch fails the step with exit 3. */
  readonly params?: JsonSchema;
  /** Top-level parameters that arrive as they were written: the plugin fills them in by `render`. */
  readonly templates?: readonly string[];
  /** Runs once in each process, before the first call; a failure takes the plugin out of service. */
  readonly init?: () => MaybePromise<void>;
  /**
   * Asked before each attempt after the first. Nothing: the plugin is called. An answer: the step ends without a
   * call, see `Verified`.
   */
  readonly verify?: (context: PluginContext) => MaybePromise<Verified | Detour | undefined | null>;
  /** Called before each call of the plugin; where it throws, the attempt fails and nothing else is called. */
  readonly attach?: (context: PluginContext) => MaybePromise<void>;
  /** Called after each call for which `attach` did not throw, however it ended. */
  readonly detach?: (context: PluginContext) => MaybePromise<void>;
  /** Runs each call in a thread or a process of its own: whatever happens there costs only its step. */
  readonly isolate?: 'thread' | 'process';
  /** The heap of an isolated call, MB; 512 when absent. */
  readonly memory?: number;
};

/** What the engine stores of an attempt that failed. */
export type PluginFailure = {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  /** Whose failure it is: of the data that were given, or of what works on them. */
  readonly kind?: FailureKind;
  /** File and line of the project in which the error was made: `plugins/load.mjs:12`. */
  readonly at?: string;
};

/** How one attempt ended. `exit` is there when the plugin set it. */
export type PluginOutcome =
  | { readonly kind: 'done'; readonly result: unknown; readonly exit?: number }
  | {
      readonly kind: 'failed';
      readonly failure: PluginFailure;
      /** False: trying again would not help, whatever the retry policy says. */
      readonly retryable?: boolean;
      /** Not to be tried again before that many milliseconds are over. */
      readonly retryAfterMs?: number;
      readonly exit?: number;
    }
  | DetourOutcome;
