/** Contexts and attempts for tests of plugins. */
import { cwd as currentFolder } from 'node:process';
import { createContext, type ContextInput } from './context.js';
import type { PluginContext, PluginModule, PluginOutcome } from './api.js';
import { pluginProblem } from './failures.js';
import { eitherContract } from './legacy.js';
import { boundParams } from './params.js';
import { runPlugin } from './run.js';
import type { AskSensitive } from './sensitive.js';
import { shapeOf } from './shape.js';

export type { PluginContext, PluginModule, PluginOutcome } from './api.js';

/** What a test says of the attempt; all of it may be left out. */
export type TestAttempt<Params = Readonly<Record<string, unknown>>> = {
  readonly params?: Params;
  /** From 1. */
  readonly attempt?: number;
  /** Idempotency key; default: `test:0`. */
  readonly key?: string;
  /** Adds to the job `{_id: "test", type: "job"}`. */
  readonly job?: Readonly<Record<string, unknown>>;
  /** Adds to the entry of the step. */
  readonly step?: Readonly<Record<string, unknown>>;
  /** Results of earlier steps by name. */
  readonly results?: Readonly<Record<string, unknown>>;
  /** Parameters, by dotted path, that are secrets: what the plugin says of them is hidden. */
  readonly secrets?: readonly string[];
  /** What `context.sensitive` answers, by name. */
  readonly sensitive?: Readonly<Record<string, string>>;
  /** Folder of the project; default: the current folder. */
  readonly cwd?: string;
} & Partial<Pick<ContextInput, 'item' | 'failure' | 'history' | 'lastDetails' | 'egress' | 'code'>>;

/** What a plugin has said during an attempt. */
export type TestRecord = {
  readonly logged: readonly {
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
  }[];
  readonly progress: readonly (number | string)[];
  /** Details of its heartbeats. */
  readonly details: readonly unknown[];
  /** Changes of `job.data`, together; those that are stored `always` among them. */
  readonly data: Readonly<Record<string, unknown>>;
  /** What it set as `custom_status` of the job, in its order. */
  readonly statuses: readonly (string | null)[];
};

/** A context with what the plugin said to it, and a way to stop the attempt. */
export type TestContext<Params> = TestRecord & {
  readonly context: PluginContext<Params>;
  /** Tells the plugin to stop, as a cancel does; with `TimeoutError` as a timeout does. */
  readonly stop: (reason?: 'AbortError' | 'TimeoutError') => void;
};

/** Makes the context of an attempt for a test that calls the plugin itself. */
export function createTestContext<Params = Readonly<Record<string, unknown>>>(
  given: TestAttempt<Params> = {},
): TestContext<Params> {
  const ending = new AbortController();
  const record = {
    logged: [] as TestRecord['logged'][number][],
    progress: [] as (number | string)[],
    details: [] as unknown[],
    data: {} as Record<string, unknown>,
    statuses: [] as (string | null)[],
  };
  const { context } = createContext({
    ...inputOf(given as TestAttempt),
    signal: ending.signal,
    log: (message, data) => {
      record.logged.push(data === undefined ? { message } : { message, data });
    },
    heartbeat: (details) => {
      if (details !== undefined) record.details.push(details);
    },
    progress: (progress) => void record.progress.push(progress),
    setStatus: (status) => void record.statuses.push(status),
    setData: (changes) => void Object.assign(record.data, changes),
    sensitive: given.sensitive === undefined ? undefined : answersOf(given.sensitive),
  });
  for (const path of given.secrets ?? []) context.secret(path);
  return {
    ...record,
    context: context as unknown as PluginContext<Params>,
    stop: (reason = 'AbortError') =>
      ending.abort(new DOMException('The test stopped the attempt.', reason)),
  };
}

/** Answers the values of a test. */
function answersOf(values: Readonly<Record<string, string>>): AskSensitive {
  return async (names) => {
    const missing = names.find((name) => !Object.hasOwn(values, name));
    if (missing !== undefined) {
      const reason = `The test gives no sensitive value "${missing}": name it in \`sensitive\`.`;
      throw pluginProblem('SecretUnreadable', { reason });
    }
    return Object.fromEntries(names.map((name) => [name, values[name] ?? '']));
  };
}

/**
 * Makes an attempt as an engine does, in this thread: checks the parameters by the plugin's schema, runs
 * `init`, asks `verify` from the second attempt on, calls the plugin, and turns what it returns or
 * throws into the outcome. `module`: all that the plugin exports (`import * as plugin from …`). Never
 * rejects for what the plugin does.
 */
export async function runTestAttempt(
  module: object,
  given: TestAttempt = {},
): Promise<{ readonly outcome: PluginOutcome } & TestRecord> {
  const { context, stop: _stop, ...record } = createTestContext(given);
  const plugin = moduleOf(module);
  const outcome = await runPlugin(
    {
      ...{ name: 'test', file: '', hash: '', module: plugin },
      check: plugin.params === undefined ? undefined : boundParams(plugin.params),
      start: async () => plugin.init?.(),
    },
    context,
    { verify: (given.attempt ?? 1) > 1 },
  );
  return { outcome, ...record };
}

/** Isolation is the engine's doing: a test sees what the plugin itself does. */
function moduleOf(given: object): PluginModule {
  const isFunction = typeof given === 'function';
  const shape = shapeOf(isFunction ? { default: given } : { ...given }, isFunction);
  if (shape.kind === 'broken') throw new TypeError(`This is no plugin: ${shape.problem}`);
  if (shape.kind === 'perhaps-legacy') {
    return eitherContract('test', shape.factory, () => undefined);
  }
  const { isolate: _isolate, ...module } = shape.module;
  return module;
}

function inputOf({
  params = {},
  attempt = 1,
  key = 'test:0',
  cwd = currentFolder(),
  results = {},
  ...given
}: TestAttempt) {
  const step = { index: 0, path: '0', name: 'test', task: 'test', attempt, params, ...given.step };
  const { item, failure, history, lastDetails, egress, code } = given;
  return {
    ...{ params, key, cwd, results, step, item, lastDetails, egress, code },
    job: { _id: 'test', type: 'job', ...given.job },
    ...(failure === undefined ? {} : { failure }),
    ...(history === undefined ? {} : { history }),
  };
}
