import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';
import { builtModule } from '../../package.js';
import { attributionOf } from '../../plugin/attribution.js';
import type { Connection } from '../../store/connection.js';
import {
  type BlockWatchOptions,
  createNotice,
  type OnDecide,
  createSharedCalls,
} from './blocking.js';
import {
  beatMs,
  attributionFunction,
  type ToWatchdog,
  type WatchdogData,
} from './watchdog-messages.js';

export type WatchdogOptions = {
  readonly connection: Connection;
  readonly leaseMs: number;
  /** Whether people read the log; else it is JSON. */
  readonly isTerminal: boolean;
  /** The name of this process in its log. */
  readonly name?: string | undefined;
};

export type Watchdog = {
  /** Whose lease is given up when this process has to be ended. */
  readonly watch: (engine: string) => void;
  /** Reports which plugins run in this process. */
  readonly onCall: NonNullable<BlockWatchOptions['onBegin']>;
  /** Reports about which job this process decides. */
  readonly onDecide: OnDecide;
  readonly stop: () => Promise<void>;
};

/**
 * Watches the event loop of this process from a thread of its own, which goes on when a plugin blocks
 * the loop. After a second the log names the plugin, and SIGINT and SIGTERM get their ordinary meaning
 * back until the loop goes on. When the attempt's time, or the lease, is over as well, the job gets a
 * note, the lease is given up, and the process is ended: a loop that never ends cannot be left. The same
 * happens when a decision about a job never ends; the job records it, and three engines in a row (`usualCrashLimit`) end it.
 */
export function startWatchdog(options: WatchdogOptions): Watchdog {
  const { connection, leaseMs, isTerminal, name } = options;
  const beats = new Int32Array(new SharedArrayBuffer(8));
  const signals = createSignalRelease();
  const beat = (): void => {
    Atomics.store(beats, 1, inspectorUrl() === undefined ? 0 : 1);
    Atomics.add(beats, 0, 1);
    if (signals.taken.length > 0) signals.restore();
  };
  beat();
  const timer = setInterval(beat, beatMs).unref();
  // Asked by the watchdog, in whatever this thread is doing then.
  Object.assign(globalThis, {
    [attributionFunction]: () => {
      signals.release();
      return JSON.stringify(currentAttribution());
    },
  });
  const notice = createNotice();
  const calls = createSharedCalls();
  const data: WatchdogData = {
    beats,
    notice: notice.shared,
    calls: calls.shared,
    connection,
    leaseMs,
    isTerminal,
    name,
  };
  const thread = new Worker(builtModule('engine/watch/watchdog-thread'), {
    workerData: data,
    execArgv: [],
    stdin: false,
  });
  thread.unref();
  return {
    watch: (engine) => thread.postMessage({ engine } satisfies ToWatchdog),
    onCall: calls.begin,
    onDecide: notice.write,
    stop: async () => {
      clearInterval(timer);
      signals.restore();
      await thread.terminate();
    },
  };
}

/** On whose behalf this thread runs now. */
function currentAttribution(): object | null {
  const attribution = attributionOf(new Error('the event loop stands still'));
  if (attribution === undefined) return null;
  const { plugin, file, about, endsAt } = attribution;
  return { plugin, file, about, endsAt };
}

/** Takes away what listens to the signals, so that they end the process, and puts it back. */
function createSignalRelease() {
  const taken: (readonly [NodeJS.Signals, NodeJS.SignalsListener])[] = [];
  return {
    taken: taken as readonly unknown[],
    release: (): void => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        for (const listener of process.listeners(signal)) {
          taken.push([signal, listener]);
          process.off(signal, listener);
        }
      }
    },
    restore: (): void => {
      for (const [signal, listener] of taken.splice(0)) process.on(signal, listener);
    },
  };
}
