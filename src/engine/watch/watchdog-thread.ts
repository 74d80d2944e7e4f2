import { readFileSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { processorMsOf } from '../../processor-time.js';
import { documentPath, databasePath } from '../../store/client.js';
import { credentialsOf, serverUrl } from '../../store/connection.js';
import { readNotice, readSharedCalls } from './blocking.js';
import { recordBlockedEngine } from './blocked-engines.js';
import { lookAtMainThread } from './main-thread.js';
import { createBlockDetector, lookMs, type BlockFinding } from './event-loop-block.js';
import type { AttributedCall, ToWatchdog, WatchdogData } from './watchdog-messages.js';

/* The thread that watches the main one. Whatever the main thread does, this one goes on. */
const { beats, notice, calls, connection, leaseMs, isTerminal, name } = workerData as WatchdogData;
const noticed = Buffer.from(notice);

/** How long the database may take, ms. */
const requestMs = 5_000;

let engine: string | undefined;
parentPort?.on('message', (message: ToWatchdog) => (engine = message.engine)).unref();

/** A main thread that has had less of the processor while the loop is blocked is starved, ms. */
const starvedMs = 500;

let processorMs = mainProcessorMs();

const beat = (): number => Atomics.load(beats, 0);
const detector = createBlockDetector({
  ...{ beat, leaseMs, isStarved, hasComputed, say, end },
  now: Date.now,
  isDebugged: () => Atomics.load(beats, 1) === 1,
  ask: lookAtMainThread,
  isRunning: () => mainState() === 'R',
  calls: () => readSharedCalls(calls),
  decided: () => readNotice(noticed),
  onBeat: () => void (processorMs = mainProcessorMs()),
});
setInterval(() => void detector.look(), lookMs);

/** A decision computes all the time: one that has hardly had a processor is not to blame. */
function hasComputed(): boolean {
  const now = mainProcessorMs();
  return now === undefined || processorMs === undefined || now - processorMs >= leaseMs / 2;
}

const advice = "; with export const isolate = 'thread' the plugin holds up nobody else";

/** Records the block in the job, gives the lease up and ends the process. */
async function end(stoodMs: number, found: BlockFinding): Promise<void> {
  const { names, isSure, attribution, decided } = found;
  const last = beat();
  const isLate = Date.now() > (attribution?.endsAt ?? Infinity);
  const why = isLate ? 'beyond the timeout of its attempt' : 'as long as the lease lasts';
  const text = `${names} ${isSure ? 'blocked' : 'may have blocked'} its engine for ${stoodMs} ms, ${why}. The engine gave up its lease and was ended${decided === undefined ? advice : ''}.`;
  const job = attribution?.about.job;
  const note = { type: 'request', job, action: 'note', by: engine ?? 'watchdog', text };
  await Promise.all([
    job === undefined ? undefined : request('', 'POST', note),
    decided === undefined ? undefined : recordBlock(decided),
    engine === undefined ? undefined : giveUpLease(engine),
  ]);
  if (beat() !== last) return;
  say(text, attribution);
  process.kill(process.pid, 'SIGKILL');
}

/** Records in the job that it blocked this engine. */
function recordBlock(job: string): Promise<void> {
  const by = { engine: engine ?? 'unknown', at: Date.now() };
  return recordBlockedEngine((method, body) => request(documentPath(job), method, body), by);
}

/** Without its document the others take over what it had, at once. */
async function giveUpLease(id: string): Promise<void> {
  const doc = (await request(documentPath(id), 'GET')) as { readonly _rev?: string } | undefined;
  if (doc?._rev !== undefined) await request(`${documentPath(id)}?rev=${doc._rev}`, 'DELETE');
}

/** The answer, or undefined when there is none: the process is ended all the same. */
async function request(path: string, method: string, body?: object): Promise<unknown> {
  try {
    const answer = await fetch(`${serverUrl(connection)}${databasePath(connection, path)}`, {
      method,
      headers: { 'content-type': 'application/json', ...credentialsOf(connection) },
      signal: AbortSignal.timeout(requestMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await answer.json();
  } catch {
    return undefined;
  }
}

/** Written by itself: the streams of a thread go through the main one. */
function say(message: string, call?: AttributedCall): void {
  const { plugin, about } = call ?? {};
  const line = {
    level: 50,
    time: Date.now(),
    ...(name === undefined ? {} : { name }),
    ...(engine === undefined ? {} : { engine }),
    ...about,
    ...(plugin === undefined ? {} : { plugin }),
    msg: message,
  };
  const text = isTerminal ? `error ${message}` : JSON.stringify(line);
  try {
    writeSync(2, `${text}\n`);
  } catch {
    // Nobody reads it any more.
  }
}

/** The main thread would go on, but has no processor: that is nobody's doing. */
function isStarved(): boolean {
  const now = mainProcessorMs();
  if (now === undefined || processorMs === undefined) return false;
  return mainState() === 'R' && now - processorMs < starvedMs;
}

function mainProcessorMs(): number | undefined {
  return processorMsOf(`/proc/self/task/${process.pid}/schedstat`);
}

/** The state of the main thread on Linux: R is running, or ready to. */
function mainState(): string | undefined {
  try {
    const text = readFileSync(`/proc/self/task/${process.pid}/stat`, 'utf8');
    return /\) (\w)/.exec(text)?.[1];
  } catch {
    return undefined;
  }
}
