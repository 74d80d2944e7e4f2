import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { PluginContext, PluginModule } from './api.js';
import { Detour } from './detour.js';
import { PluginError } from './errors.js';
import { pluginProblem } from './failures.js';
import type { Call, FromIsolate, ToIsolate } from './isolate-messages.js';
import { renderData } from './render.js';

/** How long, after its signal, a call may still clean up before it is ended by force. */
const graceMs = 2000;

/**
 * A module whose calls run in a thread or a process of their own, if it exports `isolate`; else the
 * module itself. What crashes, or does not end after its signal, takes only its own attempt along.
 * `init` then runs before each call, there.
 */
export function isolated(
  plugin: { readonly name: string; readonly file: string },
  module: PluginModule,
): PluginModule {
  const { isolate, init: _init, verify, ...rest } = module;
  if (isolate === undefined) return module;
  const start = isolate === 'thread' ? startThread : startProcess;
  const calling = (part: Call['part']) => (context: PluginContext) =>
    callAway(start(), toCall(plugin, part, context), context);
  return {
    ...rest,
    isolate,
    default: calling('default'),
    ...(verify ? { verify: calling('verify') as NonNullable<PluginModule['verify']> } : {}),
  };
}

/** The other side: where the call runs. `onEnd` hears once that it is gone, and how. */
type Away = {
  readonly send: (message: ToIsolate) => void;
  readonly onMessage: (take: (message: FromIsolate) => void) => void;
  readonly onEnd: (take: (how: string) => void) => void;
  readonly stop: () => void;
};

async function callAway(away: Away, call: Call, context: PluginContext): Promise<unknown> {
  let grace: NodeJS.Timeout | undefined;
  const abort = (): void => {
    away.send({ type: 'abort' });
    grace = setTimeout(away.stop, graceMs);
  };
  try {
    return await new Promise<unknown>((resolve, reject) => {
      away.onEnd((how) => reject(pluginProblem('IsolateLost', { plugin: call.name, how })));
      away.onMessage((message) => {
        try {
          if (message.type === 'done') resolve(message.result);
          else if (message.type === 'detour') resolve(new Detour(message.outcome));
          else if (message.type === 'failed') {
            reject(new PluginError(message.message, message.told));
          } else pass(message, context);
        } catch (wrong) {
          // Said in here it would be nobody's: an exit that is none, for instance.
          reject(wrong instanceof Error ? wrong : new Error(String(wrong)));
        }
      });
      away.send({ type: 'call', call });
      if (context.signal.aborted) abort();
      else context.signal.addEventListener('abort', abort, { once: true });
    });
  } finally {
    context.signal.removeEventListener('abort', abort);
    clearTimeout(grace);
    away.stop();
  }
}

/** What the plugin says on the way. */
function pass(
  message: Exclude<FromIsolate, { type: 'done' | 'detour' | 'failed' }>,
  context: PluginContext,
): void {
  switch (message.type) {
    case 'log':
      return context.log(message.message, message.data);
    case 'heartbeat':
      return void context.heartbeat(message.details);
    case 'progress':
      return context.progress(message.progress);
    case 'exit':
      return context.exit(message.code);
    case 'secret':
      return void context.secret(message.path);
  }
}

function toCall(
  plugin: { readonly name: string; readonly file: string },
  part: Call['part'],
  { params, job, step, results, key, cwd, lastDetails, render }: PluginContext,
): Call {
  return {
    ...plugin,
    part,
    given: { params, job, step, results, key, cwd, lastDetails },
    data: renderData(render),
  };
}

function startThread(): Away {
  const worker = new Worker(entry(), { execArgv: [], env: ownEnvironment() });
  let how = 'thread stopped';
  worker.once('error', (error) => (how = `thread failed (${error.message})`));
  return {
    send: (message) => worker.postMessage(message),
    onMessage: (take) => worker.on('message', take),
    onEnd: (take) => worker.once('exit', () => take(how)),
    stop: () => void worker.terminate(),
  };
}

function startProcess(): Away {
  const child = fork(entry(), { execArgv: [], env: ownEnvironment(), serialization: 'advanced' });
  let ended = (_how: string): void => undefined;
  child.once('error', (error) => ended(`process failed (${error.message})`));
  child.once('exit', (code, signal) => ended(`process ended (${signal ?? `exit ${code}`})`));
  return {
    send: (message) => void (child.connected && child.send(message)),
    onMessage: (take) => child.on('message', (message) => take(message as FromIsolate)),
    onEnd: (take) => (ended = take),
    stop: () => void child.kill('SIGKILL'),
  };
}

/** What the operator says to plugins: no secrets. */
const forPlugins = ['TWS_FILES', 'TWS_SENDMAIL'];

/** The environment of this process without the engine's own credentials. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => forPlugins.includes(name) || !/^(?:COUCH_|TWS_)/.test(name),
  );
  return Object.fromEntries(kept);
}

/** Node runs only the compiled side; where this runs from its sources, that is the last build. */
function entry(): string {
  const compiled = import.meta.url.endsWith('.ts') ? '../../dist/src/plugin/' : './';
  return fileURLToPath(new URL(`${compiled}isolate-main.js`, import.meta.url));
}
