import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { processorMsOf } from '../processor-time.js';
import { onOwnBehalf } from './culprit.js';

/** What is worked out in a thread of its own, because documents say how much work it is. */
export type Calculation =
  | { readonly kind: 'expression'; readonly expression: string; readonly data: unknown }
  | { readonly kind: 'schema'; readonly schema: Json; readonly params: unknown };
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

let pool: Piscina | undefined;

/**
 * Makes a calculation in a thread. It ends after a second of the processor, which a busy machine does
 * not use up. Rejects with an error that names the bound, or with the error of the document.
 */
export async function calculate(calculation: Calculation): Promise<unknown> {
  pool ??= onOwnBehalf(openPool);
  const ending = new AbortController();
  // The thread writes its number here when it begins.
  const thread = new Int32Array(new SharedArrayBuffer(4));
  const watch = watchThread(thread, () => ending.abort());
  try {
    const task = { calculation, thread };
    const answer = (await pool.run(task, { signal: ending.signal })) as Calculated;
    if (answer.ok) return answer.value;
    throw Object.assign(new Error(String(answer.error['message'])), answer.error);
  } catch (error) {
    throw ending.signal.aborted ? tooLong() : endOf(error);
  } finally {
    watch();
  }
}

/** The error of what takes longer than it may. */
export function tooLong(): Error {
  return new Error(`it takes longer than ${longestMs} ms`);
}

function watchThread(thread: Int32Array, onLate: () => void): () => void {
  let began: { readonly at: number; readonly usedMs: number | undefined } | undefined;
  const timer = setInterval(() => {
    const id = Atomics.load(thread, 0);
    // It waits for a thread.
    if (id === 0) return;
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
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new Error(`it needs more than ${heapMb} MB of memory`)
    : error;
}

function openPool(): Piscina {
  const opened = new Piscina({
    filename: entry(),
    minThreads: 0,
    maxThreads: mostThreads,
    idleTimeout: idleMs,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
    recordTiming: false,
    atomics: 'disabled',
  });
  // A thread that dies between two calculations is nobody's loss.
  opened.on('error', () => undefined);
  return opened;
}

/** Node runs only the compiled side; where this runs from its sources, that is the last build. */
function entry(): string {
  const compiled = import.meta.url.endsWith('.ts') ? '../../dist/src/engine/' : '../engine/';
  return fileURLToPath(new URL(`${compiled}calculation-thread.js`, import.meta.url));
}
