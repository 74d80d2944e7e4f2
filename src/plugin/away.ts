import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { FromIsolate, ToIsolate } from './isolate-messages.js';

/** Where an isolated call runs. `onEnd` hears once that it is gone, and how. */
export type Away = {
  readonly send: (message: ToIsolate) => void;
  readonly onMessage: (take: (message: FromIsolate) => void) => void;
  readonly onEnd: (take: (how: string) => void) => void;
  readonly stop: () => void;
};

/** A thread for one call, with a heap of so many MB. */
export function startThread(memory: number): Away {
  const resourceLimits = { maxOldGenerationSizeMb: memory };
  const worker = new Worker(entry(), { execArgv: [], env: ownEnvironment(), resourceLimits });
  let how = 'thread stopped';
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const full = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    how = full ? `thread needed more than ${memory} MB` : `thread failed (${error.message})`;
  });
  return {
    send: (message) => worker.postMessage(message),
    onMessage: (take) => worker.on('message', take),
    onEnd: (take) => worker.once('exit', () => take(how)),
    stop: () => void worker.terminate(),
  };
}

/** Processes that this one must not leave behind. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process for one call, with a heap of so many MB. */
export function startProcess(memory: number): Away {
  const child = fork(entry(), {
    execArgv: [`--max-old-space-size=${memory}`],
    env: ownEnvironment(),
    serialization: 'advanced',
  });
  children.add(child);
  let ended = (_how: string): void => undefined;
  child.on('error', (error) => ended(`process failed (${error.message})`));
  child.once('exit', (code, signal) => {
    children.delete(child);
    const full = signal === 'SIGABRT' ? `; it may have needed more than ${memory} MB` : '';
    ended(`process ended (${signal ?? `exit ${code}`}${full})`);
  });
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
