import { fork, type ChildProcess } from 'node:child_process';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { builtModule } from '../package.js';
import { onOwnBehalf } from './attribution.js';
import type { FromIsolate, ToIsolate } from './isolate-messages.js';
import { loadPiscina } from './late-packages.js';

/** Where an isolated call runs. `onEnd` hears once that it is gone, and how. */
export type Away = {
  readonly send: (message: ToIsolate) => void;
  readonly onMessage: (take: (message: FromIsolate) => void) => void;
  readonly onEnd: (take: (how: string) => void) => void;
  /** The call has ended and left nothing behind: resolves when another one may be made there. */
  readonly release: () => Promise<void>;
  /** Ends whatever goes on there, now. */
  readonly stop: () => void;
};

/** Starts one call after the other, or several beside each other. */
export type Start = () => Away;

/** A thread that nobody needs ends after this time, ms. */
const idleMs = 30_000;
/** How many attempts run at a time is for the engine to say: none waits for a thread. */
const mostThreads = 10_000;

/**
 * Threads for the calls of one plugin, each with a heap of so many MB and one call at a time. A thread
 * is used again once a call has ended in it and left nothing behind.
 */
export function threads(memory: number): Start {
  let pool: Pool | undefined;
  return () => {
    const { run } = (pool ??= onOwnBehalf(() => openPool(memory)));
    const ending = new AbortController();
    const { port1, port2 } = new MessageChannel();
    let ended = (_how: string): void => undefined;
    const ran = onOwnBehalf(() => run(port2, ending)).then(
      // The other end closes both, once all that it said is here.
      () => undefined,
      (error: NodeJS.ErrnoException) => {
        port1.close();
        ended(endOf(error, memory));
      },
    );
    return {
      send: (message) => port1.postMessage(message),
      onMessage: (take) => port1.on('message', take),
      onEnd: (take) => (ended = take),
      // The answer was the last message.
      release: () => ran.then(() => port1.close()),
      stop: () => ending.abort(),
    };
  };
}

type Pool = {
  /** Hands a port to a thread. Resolves when its call has ended; rejects when the thread has. */
  readonly run: (port: MessagePort, ending: AbortController) => Promise<unknown>;
};

function openPool(memory: number): Pool {
  const { Piscina } = loadPiscina();
  const pool = new Piscina({
    filename: builtModule('plugin/isolate-thread'),
    minThreads: 0,
    maxThreads: mostThreads,
    idleTimeout: idleMs,
    execArgv: [],
    env: ownEnvironment(),
    resourceLimits: { maxOldGenerationSizeMb: memory },
    recordTiming: false,
    // Else a thread would stand still between two calls, and with it what its plugin keeps open.
    atomics: 'disabled',
  });
  const calls = new Set<AbortController>();
  /** Calls that no thread has got yet. */
  const waiting = new Set<AbortController>();
  let lastError: Error | undefined;
  // A thread that dies between two calls is nobody's loss.
  pool.on('error', (error: Error) => (lastError = error));
  // One that dies before it is ready is not replaced by the pool, and its call would wait for ever.
  pool.on('workerDestroy', () => {
    setImmediate(() => {
      const tooMany = Math.max(0, calls.size - pool.threads.length);
      for (const ending of [...waiting].slice(0, tooMany)) ending.abort(new NotStarted(lastError));
    });
  });
  const run = async (port: MessagePort, ending: AbortController): Promise<unknown> => {
    calls.add(ending);
    waiting.add(ending);
    // Looked at when it is posted to a thread.
    const task = {
      get port() {
        waiting.delete(ending);
        return port;
      },
    };
    try {
      return await pool.run(task, { transferList: [port], signal: ending.signal });
    } catch (error) {
      const reason: unknown = ending.signal.reason;
      throw reason instanceof NotStarted ? reason : error;
    } finally {
      calls.delete(ending);
      waiting.delete(ending);
    }
  };
  return { run };
}

class NotStarted extends Error {
  constructor(override readonly cause: NodeJS.ErrnoException | undefined) {
    super(`thread could not be started${cause === undefined ? '' : ` (${cause.message})`}`);
  }
}

function endOf(error: NodeJS.ErrnoException, memory: number): string {
  const { code } = (error instanceof NotStarted ? error.cause : error) ?? {};
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return `thread needed more than ${memory} MB`;
  if (error instanceof NotStarted) return error.message;
  return error.name === 'AbortError' ? 'thread was ended' : 'thread stopped';
}

/** Processes that this one must not leave behind. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process for each call, with a heap of so many MB. */
export function processes(memory: number): Start {
  return () => {
    const child = fork(builtModule('plugin/isolate-process'), {
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
    const stop = (): void => void child.kill('SIGKILL');
    return {
      send: (message) => void (child.connected && child.send(message)),
      onMessage: (take) => child.on('message', (message) => take(message as FromIsolate)),
      onEnd: (take) => (ended = take),
      release: async () => stop(),
      stop,
    };
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
