import type { PluginContext, PluginModule } from './api.js';
import { createContext } from './context.js';
import { onOwnBehalf } from './attribution.js';
import { Detour } from './detour.js';
import { Done } from './done.js';
import { pluginProblem } from './failures.js';
import { importPlugin } from './import-plugin.js';
import { createAsking } from './isolate-asking.js';
import { failedMessage } from './isolate-failed.js';
import type {
  AnswerMessage,
  IsolateCall,
  FinalMessage,
  FromIsolate,
  NoteMessage,
} from './isolate-messages.js';
import { toJson } from './json.js';
import { toFailed } from './outcome.js';
import { assertComplete } from './run.js';

/** The side of an isolated call on which the plugin runs. */
export type Line = {
  readonly send: (message: FromIsolate) => void;
  /** Called once with what takes the answers to what the plugin asks. */
  readonly onAnswer: (take: (answer: AnswerMessage) => void) => void;
  /** Takes what has come while the event loop was busy. */
  readonly hear: () => void;
  /** Aborts when the attempt is to end. */
  readonly signal: AbortSignal;
  /** Called once the module is loaded and its `init` has run: what comes from now on is the call's. */
  readonly ready?: () => void;
};

/** Makes a call where it has been sent to. Never rejects: a failure is an answer as well. */
export async function makeCall(call: IsolateCall, line: Line): Promise<FinalMessage> {
  try {
    const module = await moduleOf(call.file);
    line.ready?.();
    const context = contextOf(call, line);
    const value: unknown = await module[call.part]?.(context);
    if (call.part === 'default') assertComplete(value, context.signal);
    if (value instanceof Detour) return { type: 'detour', outcome: value.outcome };
    const complete = value instanceof Done;
    const result = toJson(complete ? value.result : value);
    if (result.ok) return { type: 'done', result: result.value, complete };
    throw pluginProblem('ResultNotJson', { plugin: call.name, at: result.at, what: result.what });
  } catch (thrown) {
    if (thrown instanceof Detour) return { type: 'detour', outcome: thrown.outcome };
    return failedMessage(toFailed(thrown, call.given.cwd));
  }
}

/** A line of the log as it is told to the other side. */
export function logMessage(message: string, data?: Readonly<Record<string, unknown>>): NoteMessage {
  return { type: 'log', message, ...(data === undefined ? {} : { data: { ...data } }) };
}

/** Plugins whose `init` has run here, by file. */
const modules = new Map<string, Promise<PluginModule>>();

/** Imports a plugin and runs its `init`, once: where that failed no other call is made. */
function moduleOf(file: string): Promise<PluginModule> {
  const known = modules.get(file);
  if (known !== undefined) return known;
  // What a module does on its own account goes on after this call.
  const begun = onOwnBehalf(() => begin(file));
  modules.set(file, begun);
  return begun;
}

async function begin(file: string): Promise<PluginModule> {
  const shape = await importPlugin(file);
  if (shape.kind === 'broken') throw new Error(shape.problem);
  await shape.module.init?.();
  return shape.module;
}

function contextOf(call: IsolateCall, { send, hear, signal, onAnswer }: Line): PluginContext {
  const { given, data } = call;
  const { ask, take } = createAsking(send);
  onAnswer(take);
  const { context } = createContext({
    ...given,
    shown: data['params'] as PluginContext['params'],
    parentResults: data.parent_results as Readonly<Record<string, unknown>>,
    item: data.item,
    signal,
    log: (message, extra) => send(logMessage(message, extra)),
    heartbeat: (details) => {
      send({ type: 'heartbeat', details });
      hear();
    },
    progress: (progress) => send({ type: 'progress', progress }),
    setStatus: (status) => send({ type: 'status', status }),
    setData: (changes, { always = false } = {}) => send({ type: 'data', changes, always }),
    exit: (code) => send({ type: 'exit', code }),
    sensitive: ask,
    late: call.late,
    onSecret: (text) => send({ type: 'hide', text }),
  });
  return context;
}
