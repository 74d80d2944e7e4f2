import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Piscina } from 'piscina';
import { builtModule } from '../package.js';
import { processorMsOf } from '../processor-time.js';
import { onOwnBehalf } from './attribution.js';
import { loadPiscina } from './late-packages.js';

/** What is worked out in a thread of its own, because documents say how much work it is. */
export type Calculation =
  | { readonly kind: 'expression'; readonly expression: string; readonly data: unknown }
  | {
      readonly kind: 'schema';
      readonly schema: Json;
      readonly value: unknown;
      /** What it is: paths of problems begin with it. */
      readonly of: 'params' | 'result' | 'data';
    }
  /** By the schema of a plugin. */
  | { readonly kind: 'params'; readonly schema: Json; readonly params: unknown };
type Json = Readonly<Record<string, unknown>>;

/** How a calculation ended: an error of the document is an answer as well. */
export type Calculated =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: Json };

/** Takes more of the processor than this, ms, and is ended. */
const longestMs = 1_000;
/** Where the system does not tell the time of a thread, it is ended after this, ms. */
const longestWithoutMs = 5_000;
const watchMs = 100;
/** The heap of a thread, MB. */
const heapMb = 256;
/** Two threads: one long calculation holds up no other. */
const mostThreads = 2;
const idleMs = 30_000;

/**
 * Makes a calculation in a thread. It ends after a second of the processor, which a busy machine does
 * not use up. It is tried `starts` times to start a thread; left out, for about eight seconds. Rejects
 * with an error that names the bound, with the error of the document, or, when no thread could be
 * started, with a `NoThreadError`.
 */
export const calculate = calculator(builtModule('evaluate/calculation-thread'));

/** The same with threads that run another module. */
export function calculator(
  module: string,
  rest = restAfter,
): (calculation: Calculation, starts?: number) => Promise<unknown> {
  let pool: Pool | undefined;
  const once = (calculation: Calculation): Promise<unknown> => {
    if (pool === undefined || pool.broken.aborted) pool = onOwnBehalf(() => openPool(module));
    return calculateIn(pool, calculation);
  };
  const untilAnswered = async (calculation: Calculation, starts: number): Promise<unknown> => {
    for (let failedStarts = 0; ;) {
      try {
        return await once(calculation);
      } catch (error) {
        if (error instanceof ThreadsGoneError) continue;
        if (!(error instanceof NoThreadError) || (failedStarts += 1) >= starts) throw error;
        await rest(failedStarts);
      }
    }
  };
  return async (calculation, starts = usualStarts) => {
    pending += 1;
    try {
      return await untilAnswered(calculation, starts);
    } finally {
      pending -= 1;
    }
  };
}

let pending = 0;

/** How many calculations this process waits for. */
export function pendingCalculations(): number {
  return pending;
}

const usualStarts = 6;
/** A machine that has no room for a thread may have some soon. */
const firstRestMs = 250;

async function restAfter(failedStarts: number): Promise<void> {
  await sleep(firstRestMs * 2 ** (failedStarts - 1));
}

type Pool = {
  readonly threads: Piscina;
  /** Aborts when a thread could not start: what waits in this pool would wait for ever. */
  readonly broken: AbortSignal;
  /** Gives the pool up when it has no thread left for what waits. */
  readonly look: () => void;
  /** Gives the pool up because a thread could not be started. */
  readonly giveUp: (cause: Error) => void;
};

/** No calculation was at fault: a thread could not be started. */
export class NoThreadError extends Error {}
/** The threads of the pool were ended for other calculations: this one begins in another pool. */
class ThreadsGoneError extends Error {}

async function calculateIn(
  { threads, broken, look, giveUp }: Pool,
  calculation: Calculation,
): Promise<unknown> {
  const ending = new AbortController();
  const onBroken = (): void => ending.abort(broken.reason);
  broken.addEventListener('abort', onBroken);
  // The thread writes its number here when it begins.
  const thread = new Int32Array(new SharedArrayBuffer(4));
  const watch = watchThread(thread, { onWait: look, onLate: () => ending.abort(tooLong()) });
  try {
    const task = { calculation, thread };
    const answer = (await threads.run(task, { signal: ending.signal })) as Calculated;
    if (answer.ok) return answer.value;
    throw Object.assign(new Error(String(answer.error['message'])), answer.error);
  } catch (error) {
    if (codeOf(error) === 'ERR_WORKER_INIT_FAILED') {
      // Thrown where the pool asks for a thread. The task stays in the pool, and nobody waits for its end.
      broken.removeEventListener('abort', onBroken);
      giveUp(error as Error);
      throw broken.reason;
    }
    throw ending.signal.aborted ? ending.signal.reason : endOf(error);
  } finally {
    watch();
    broken.removeEventListener('abort', onBroken);
  }
}

/** The error of what takes longer than it may. */
export function tooLong(): Error {
  return new Error(`it takes longer than ${longestMs} ms`);
}

type Watch = { readonly onWait: () => void; readonly onLate: () => void };

function watchThread(thread: Int32Array, { onWait, onLate }: Watch): () => void {
  let began: { readonly at: number; readonly usedMs: number | undefined } | undefined;
  const timer = setInterval(() => {
    const id = Atomics.load(thread, 0);
    if (id === 0) return onWait();
    const usedMs = id < 0 ? undefined : processorMsOf(`/proc/self/task/${id}/schedstat`);
    began ??= { at: performance.now(), usedMs };
    const isLate =
      usedMs === undefined || began.usedMs === undefined
        ? performance.now() - began.at > longestWithoutMs
        : usedMs - began.usedMs > longestMs;
    if (isLate) onLate();
  }, watchMs).unref();
  return () => clearInterval(timer);
}

function endOf(error: unknown): unknown {
  return codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new Error(`it needs more than ${heapMb} MB of memory`)
    : error;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

function openPool(module: string): Pool {
  const { Piscina: Pool } = loadPiscina();
  const threads = new Pool({
    filename: module,
    minThreads: 0,
    maxThreads: mostThreads,
    idleTimeout: idleMs,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    recordTiming: false,
    atomics: 'disabled',
  });
  const breaking = new AbortController();
  // Every calculation that waits listens.
  setMaxListeners(0, breaking.signal);
  // Piscina starts no thread after one that failed while it started, and keeps what waits.
  const giveUp = ({ message }: Error): void =>
    breaking.abort(new NoThreadError(`its thread could not be started: ${message}`));
  threads.on('error', giveUp);
  // Nor does it start one for what waits behind threads that were ended.
  const look = (): void => {
    if (threads.threads.length === 0) breaking.abort(new ThreadsGoneError());
  };
  return { threads, broken: breaking.signal, look, giveUp };
}
