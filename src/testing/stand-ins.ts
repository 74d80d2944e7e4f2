import type { PluginContext } from '../plugin/api.js';
import { PluginError } from '../plugin/errors.js';
import type { LoadedPlugin, PluginRegistry } from '../plugin/loader.js';

/** What a stand-in gets besides the context of its attempt. */
export type StandInTools = {
  /** Waits by the clock of the test, so many ms; rejects when the attempt is told to stop. */
  readonly sleep: (ms: number) => Promise<void>;
};

/** Does the work of a plugin in a test; what it returns or throws counts as of the plugin. */
export type StandInFunction = (context: PluginContext, tools: StandInTools) => unknown;

/** The outcome of an attempt, as data. Durations in ms. */
export type MockedAttempt = {
  /** It succeeds with this result. */
  readonly result?: unknown;
  /** It fails with this failure. */
  readonly fails?: {
    readonly name?: string | undefined;
    readonly message?: string | undefined;
    readonly code?: string | number | undefined;
    readonly retryable?: boolean | undefined;
  };
  /** It waits for this signal, whose data become its result. */
  readonly waits?: string;
  /** How long it takes, by the clock of the test. */
  readonly takes?: number;
};

/** One attempt after the other as a list says, all further ones as its last; or all alike. */
export type StandIn = StandInFunction | MockedAttempt | readonly MockedAttempt[];

/** A call of a stand-in, or of a plugin. */
export type TestCall = {
  readonly plugin: string;
  readonly task: string;
  readonly step: string;
  /** Where the step is in its job: `0.map.7`. */
  readonly path: string;
  readonly job: string;
  readonly attempt: number;
  readonly params: Readonly<Record<string, unknown>>;
};

export type StandInOptions = {
  readonly real: PluginRegistry;
  /** By the name of a plugin. */
  readonly plugins: Readonly<Record<string, StandIn>>;
  /** By the path or the name of a step, or the name of a task, which come before plugins. */
  readonly tasks: Readonly<Record<string, StandIn>>;
  /** The plugins that tasks name, which an engine offers as far as something stands in for them. */
  readonly wanted: () => readonly string[];
  readonly tools: (context: PluginContext) => StandInTools;
  readonly onCall: (call: TestCall) => void;
  /** Why a plugin may not run for real; undefined: it may. */
  readonly refuse: (plugin: string, context: PluginContext) => string | undefined;
};

/** The plugins of a test: real ones, and what stands in for them. */
export function standInPlugins(options: StandInOptions): PluginRegistry & {
  /** Tells engines that other plugins are there. */
  readonly changed: () => void;
} {
  const { real, plugins, tasks, wanted } = options;
  const listeners = new Set<Parameters<PluginRegistry['onReload']>[0]>();
  const loaded = new Map<string, LoadedPlugin>();
  const isMocked = Object.keys(tasks).length > 0;
  const names = (): readonly string[] =>
    [
      ...new Set([...real.names(), ...Object.keys(plugins), ...(isMocked ? wanted() : [])]),
    ].toSorted();
  return {
    ...real,
    names,
    get: (name) => {
      if (!names().includes(name)) return undefined;
      const plugin = loaded.get(name) ?? standingIn(name, options);
      loaded.set(name, plugin);
      return plugin;
    },
    onReload: (hear) => {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
    changed: () => {
      for (const hear of listeners) hear({ loaded: wanted(), removed: [], broken: [] });
    },
  };
}

function standingIn(name: string, options: StandInOptions): LoadedPlugin {
  const { real, plugins, tasks, tools, onCall, refuse } = options;
  const there = real.get(name);
  const replaced = ofName(plugins, name);
  const mockFor = ({ step }: PluginContext): StandIn | undefined => {
    const { path, name: own, task } = step as unknown as StepNames;
    return ofName(tasks, path) ?? ofName(tasks, own) ?? ofName(tasks, task) ?? replaced;
  };
  const run = async (context: PluginContext): Promise<unknown> => {
    const { path, name: step, task, attempt } = context.step as unknown as StepNames;
    const mock = mockFor(context);
    const { params } = context;
    const job = String(context.job['_id']);
    onCall({ plugin: name, task, step, path, attempt, params, job });
    if (mock !== undefined) return playedBy(mock, context, tools(context));
    const reason = there === undefined ? absent(name) : refuse(name, context);
    if (reason !== undefined) throw refusal(reason);
    await there?.start((init) => init());
    return there?.module.default(context);
  };
  const { verify, ...module } = (replaced === undefined ? there?.module : undefined) ?? {};
  return {
    name,
    file: there?.file ?? `${name} (test)`,
    hash: there?.hash ?? 'sha256:test',
    module: {
      ...module,
      default: run,
      ...(verify === undefined
        ? {}
        : { verify: (context) => (mockFor(context) === undefined ? verify(context) : undefined) }),
    },
    check: replaced === undefined ? there?.check : undefined,
    // What stands in for it needs no beginning.
    start: () => Promise.resolve(),
  };
}

type StepNames = {
  readonly path: string;
  readonly name: string;
  readonly task: string;
  readonly attempt: number;
};

function ofName<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

const absent = (plugin: string): string =>
  `There is no plugin "${plugin}" in this test, and nothing stands in for it`;

const refusal = (reason: string): PluginError =>
  new PluginError(reason, { name: 'NotMocked', retryable: false });

async function playedBy(
  mock: StandIn,
  context: PluginContext,
  tools: StandInTools,
): Promise<unknown> {
  if (typeof mock === 'function') return mock(context, tools);
  const { attempt } = context.step as unknown as StepNames;
  const plays = isList(mock) ? mock : [mock];
  const { result, fails, waits, takes = 0 } = plays[Math.min(attempt, plays.length) - 1] ?? {};
  if (takes > 0) await tools.sleep(takes);
  if (fails !== undefined) {
    const { name = 'Error', message = 'It fails as the test says.', code, retryable } = fails;
    throw Object.assign(new Error(message), { name, code, retryable });
  }
  return waits === undefined ? result : context.wait(waits);
}

function isList(mock: MockedAttempt | readonly MockedAttempt[]): mock is readonly MockedAttempt[] {
  return Array.isArray(mock);
}
