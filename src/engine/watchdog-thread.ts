import { readFileSync, writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { processorMsOf } from '../processor-time.js';
import { documentPath, credentialsOf, databasePath, serverUrl } from '../store/connection.js';
import { isFinalState, type StoredDocument } from '../model/parse.js';
import { readNotice } from './deciding.js';
import { withHeldUp } from './held-up.js';
import { lookAtMainThread } from './main-thread.js';
import type { Standing, ToWatchdog, WatchdogData } from './watchdog-messages.js';

/* The thread that watches the main one. Whatever the main thread does, this one goes on. */
const { beats, notice, connection, leaseMs, isTerminal, name } = workerData as WatchdogData;
const noticed = Buffer.from(notice);

/** How often it looks, ms. */
const lookMs = 250;
/** Shorter standstills are told by the main thread itself, ms. */
const shortestMs = 1_000;
/** The main thread ends an attempt in time when it can, ms. */
const lateMs = 500;
/** How often at most a main thread that computes is asked what it does. */
const mostTries = 8;
/** How long the database may take, ms. */
const requestMs = 2_000;

let engine: string | undefined;
/** The calls of plugins in the main thread. */
const calls = new Map<number, Standing>();
parentPort
  ?.on('message', (message: ToWatchdog) => {
    if (message.kind === 'engine') engine = message.engine;
    else if (message.kind === 'begin') calls.set(message.call, message.culprit);
    else calls.delete(message.call);
  })
  .unref();

let last = Atomics.load(beats, 0);
let looks = 0;
let processorMs = mainProcessorMs();
/** What was found out about the present standstill, and when it has lasted too long, epoch ms. */
type Found = {
  readonly names: string;
  /** Whether the culprit was met at work, or was only there. */
  readonly isSure: boolean;
  readonly culprit?: Standing;
  /** The job about which the engine decides. */
  readonly decided?: string;
  readonly endsAt: number;
};
let found: Found | undefined;
let tries = 0;
let isBusy = false;
let isDebuggerTold = false;

setInterval(() => {
  const beat = Atomics.load(beats, 0);
  if (beat !== last) {
    [last, looks, tries, found] = [beat, 0, 0, undefined];
    processorMs = mainProcessorMs();
    return;
  }
  // Counted in looks: when the whole process stands still, so does this thread.
  looks += 1;
  if (isBusy || looks * lookMs < shortestMs || isStarved()) return;
  if (Atomics.load(beats, 1) === 1) return leaveToDebugger(looks * lookMs);
  isBusy = true;
  void react(looks * lookMs).finally(() => (isBusy = false));
}, lookMs);

/** A breakpoint looks like a standstill: asking the main thread would resume it. */
function leaveToDebugger(stoodMs: number): void {
  if (isDebuggerTold) return;
  isDebuggerTold = true;
  const text = `The event loop has stood still for ${stoodMs} ms. The inspector is open: this may be a breakpoint, so plugins that block the engine are not looked for.`;
  say(text, undefined);
}

async function react(stoodMs: number): Promise<void> {
  if (found === undefined) {
    const { isAnswering, standing, at } = await lookAtMainThread();
    if (Atomics.load(beats, 0) !== last) return;
    tries += 1;
    // On a busy machine JavaScript, too, may take its time to answer.
    if (!isAnswering && mainState() === 'R' && tries < mostTries) return;
    // A system call tells nothing: then it is whoever is there.
    // What the engine itself is doing is no plugin's doing, whichever plugins wait meanwhile.
    const decided = standing === undefined ? readNotice(noticed) : undefined;
    const isUnknown = standing === undefined && decided === undefined && !isAnswering;
    const present = isUnknown ? [...calls.values()] : [];
    const suspects = standing === undefined ? present : [standing];
    const [only, other] = suspects;
    const culprit = other === undefined ? only : undefined;
    const names = decided === undefined ? namesOf(suspects) : `A decision about job ${decided}`;
    const isSure = isAnswering;
    const leaseEndsAt = Date.now() + Math.max(0, leaseMs - stoodMs);
    const endsAt = Math.min((culprit?.endsAt ?? Infinity) + lateMs, leaseEndsAt);
    // Ending the process would help nobody: no plugin and no decision is to blame.
    const isNobody = suspects.length === 0 && decided === undefined;
    found = { names, isSure, endsAt: isNobody ? Infinity : endsAt };
    if (decided !== undefined) found = { ...found, decided };
    if (culprit !== undefined) found = { ...found, culprit };
    const signals = isAnswering
      ? '; until it ends, SIGINT and SIGTERM end the process at once'
      : '';
    const where = at === undefined ? '' : ` at ${at}`;
    say(
      `${names} ${isSure ? 'has' : 'may have'} blocked the engine for ${stoodMs} ms${where}${signals}.`,
      culprit,
    );
    return;
  }
  const isBlamed = found.decided === undefined || hasComputed();
  if (isBlamed && Date.now() >= found.endsAt) await end(stoodMs, found);
}

/** A decision computes all the time: one that has hardly had a processor is not to blame. */
function hasComputed(): boolean {
  const now = mainProcessorMs();
  return now === undefined || processorMs === undefined || now - processorMs >= leaseMs / 2;
}

function namesOf(suspects: readonly Standing[]): string {
  if (suspects.length === 0) return 'Something that is no plugin';
  const names = suspects.map(({ plugin, about: { step, job } }) => {
    const of = job === undefined ? '' : ` (step ${String(step)} of job ${job})`;
    return `Plugin ${plugin}${of}`;
  });
  return suspects.length === 1 ? String(names[0]) : `One of these: ${names.join(', ')}`;
}

const advice = "; with export const isolate = 'thread' the plugin holds up nobody else";

/** Tells the job, gives the lease up and ends the process. */
async function end(stoodMs: number, found: Found): Promise<void> {
  const { names, isSure, culprit, decided } = found;
  const isLate = Date.now() > (culprit?.endsAt ?? Infinity);
  const why = isLate ? 'beyond the timeout of its attempt' : 'as long as the lease lasts';
  const text = `${names} ${isSure ? 'blocked' : 'may have blocked'} its engine for ${stoodMs} ms, ${why}. The engine gave up its lease and was ended${decided === undefined ? advice : ''}.`;
  const job = culprit?.about.job;
  const note = { type: 'request', job, action: 'note', by: engine ?? 'watchdog', text };
  await Promise.all([
    job === undefined ? undefined : request('', 'POST', note),
    decided === undefined ? undefined : tellJob(decided),
    engine === undefined ? undefined : giveUpLease(engine),
  ]);
  if (Atomics.load(beats, 0) !== last) return;
  say(text, culprit);
  process.kill(process.pid, 'SIGKILL');
}

/** Writes into the job that it held up this engine; once more when somebody else wrote it meanwhile. */
async function tellJob(job: string): Promise<void> {
  const by = { engine: engine ?? 'unknown', at: Date.now() };
  for (let tries = 0; tries < 3; tries += 1) {
    const doc = (await request(documentPath(job), 'GET')) as StoredDocument | undefined;
    if (doc?.['type'] !== 'job' || isFinalState(doc['state'])) return;
    const answer = await request(documentPath(job), 'PUT', withHeldUp(doc, by));
    if ((answer as { readonly ok?: unknown } | undefined)?.ok === true) return;
  }
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
function say(message: string, standing: Standing | undefined): void {
  const { plugin, about } = standing ?? {};
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
  return mainState() === 'R' && now - processorMs < shortestMs / 2;
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
