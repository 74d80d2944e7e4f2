import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import type { PluginContext, PluginModule } from './api.js';
import { createContext } from './context.js';
import { Detour } from './detour.js';
import { pluginProblem } from './failures.js';
import { importPlugin } from './import-plugin.js';
import type { Call, FromIsolate, ToIsolate } from './isolate-messages.js';
import { toJson } from './json.js';
import { toFailed, uncaught, type Failed } from './outcome.js';

/* The start of a thread or a process that makes one call and is then ended by its parent. */
const aborting = new AbortController();
let plugin = '';
let folder: string | undefined;
const take = (message: ToIsolate): void => {
  if (message.type === 'abort') return aborting.abort();
  plugin = message.call.name;
  folder = message.call.given.cwd;
  void answer(message.call).then(send);
};
if (parentPort) parentPort.on('message', take);
else process.on('message', take);
process.on('uncaughtException', (thrown) => send(failed(uncaught(plugin, thrown, folder))));
process.on('unhandledRejection', (thrown) => send(failed(uncaught(plugin, thrown, folder))));
// The engine is gone: nobody waits for the answer.
process.on('disconnect', () => process.exit(1));

/** Takes what has come for a thread that is too busy for its event loop; a process cannot look. */
function hear(): void {
  if (!parentPort) return;
  for (let got = receiveMessageOnPort(parentPort); got; got = receiveMessageOnPort(parentPort)) {
    take(got.message as ToIsolate);
  }
}

function send(message: FromIsolate): void {
  if (parentPort) parentPort.postMessage(message);
  else process.send?.(message);
}

/** Never rejects: a failure is an answer as well. */
async function answer(call: Call): Promise<FromIsolate> {
  try {
    const module = await moduleOf(call);
    await module.init?.();
    const value = await module[call.part]?.(contextOf(call));
    if (value instanceof Detour) return { type: 'detour', outcome: value.outcome };
    const result = toJson(value);
    if (result.ok) return { type: 'done', result: result.value };
    throw pluginProblem('ResultNotJson', { plugin: call.name, at: result.at, what: result.what });
  } catch (thrown) {
    if (thrown instanceof Detour) return { type: 'detour', outcome: thrown.outcome };
    return failed(toFailed(thrown, call.given.cwd));
  }
}

function failed({ failure, retryable, retryAfterMs, exit }: Failed): FromIsolate {
  const { message, ...named } = failure;
  const told = {
    ...named,
    ...(retryable === undefined ? {} : { retryable }),
    ...(retryAfterMs === undefined ? {} : { retryAfter: retryAfterMs }),
    ...(exit === undefined ? {} : { exit }),
  };
  return { type: 'failed', message, told };
}

async function moduleOf(call: Call): Promise<PluginModule> {
  const shape = await importPlugin(call.file);
  if (shape.kind === 'broken') throw new Error(shape.problem);
  return shape.module;
}

function contextOf({ given, data }: Call): PluginContext {
  const { context } = createContext({
    ...given,
    parentResults: data.parent_results,
    item: data.item,
    signal: aborting.signal,
    log: (message, extra) =>
      send({ type: 'log', message, ...(extra === undefined ? {} : { data: { ...extra } }) }),
    heartbeat: (details) => {
      send({ type: 'heartbeat', details });
      hear();
      return aborting.signal.aborted;
    },
    progress: (progress) => send({ type: 'progress', progress }),
    setData: (changes) => send({ type: 'data', changes }),
    exit: (code) => send({ type: 'exit', code }),
  });
  const secret = (path: string): string => {
    const text = context.secret(path);
    send({ type: 'secret', path });
    return text;
  };
  return { ...context, secret };
}
