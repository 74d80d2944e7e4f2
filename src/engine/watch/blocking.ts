import { threadProcessorMs } from '../../processor-time.js';
import type { Log } from '../log.js';
import type { AttributedCall } from './watchdog-messages.js';

/** An attempt whose plugin shares this process. */
export type Suspect = {
  readonly plugin: string;
  readonly file: string;
  readonly about: Readonly<Record<string, unknown>>;
  /** When its time is over, epoch ms; absent when nothing limits it. */
  readonly endsAt?: number;
  /** Called with the time for which it held up everything else, ms. */
  readonly blocked: (ms: number) => void;
};

/** Finds out which plugin keeps the event loop, and with it every other step, from going on. */
export type BlockWatch = {
  /** A suspect begins. */
  readonly begin: (suspect: Suspect) => Watched;
};
export type Watched = {
  /** It is known to have run for `ms` without a pause. */
  readonly ran: (ms: number) => void;
  readonly end: () => void;
};

export type BlockWatchOptions = {
  readonly log: Log;
  /** Shorter standstills of the event loop are not reported, ms. */
  readonly limitMs?: number;
  /** Called with each suspect when it begins; returns what is called when it has ended. */
  readonly onBegin?: ((suspect: Suspect) => () => void) | undefined;
  /** Time of the processor that this thread has used, ms. */
  readonly processorMs?: () => number;
};

/** How often the watch looks whether the event loop goes on, ms. */
const everyMs = 250;

type Entry = { readonly suspect: Suspect; readonly since: number; until: number };

/**
 * Looks by a timer whether the event loop stood still. The call of a plugin up to its first pause is
 * measured by itself; of what it does later it is known only which plugins were there. Only time that
 * this thread spent computing counts: a process that was stopped, a machine that slept and a processor
 * that others used are no plugin's doing.
 */
export function createBlockWatch(options: BlockWatchOptions): BlockWatch {
  const { log, limitMs = 1_000, onBegin, processorMs = threadProcessorMs } = options;
  const entries = new Set<Entry>();
  let timer: NodeJS.Timeout | undefined;
  let looked = 0;
  /** What `processorMs` said then. */
  let lookedAt = 0;
  /** Time of the present block that is accounted for, ms. */
  let explained = 0;

  /** Upper bound of the processor time used since the last look, ms. */
  const computedMs = (): number => Math.round(processorMs() - lookedAt);
  const look = (): void => {
    const now = performance.now();
    const goneMs = Math.round(now - looked - everyMs - explained);
    const stoodMs = goneMs < limitMs ? goneMs : Math.min(goneMs, computedMs());
    const before = looked;
    looked = now;
    explained = 0;
    // Those that had begun when it began to stand still, and had not ended before.
    const present = [...entries].filter(
      ({ since, until }) => until > before && since <= now - goneMs + 1,
    );
    for (const entry of entries) if (entry.until < now) entries.delete(entry);
    if (entries.size === 0) {
      clearInterval(timer);
      timer = undefined;
    } else lookedAt = processorMs();
    if (stoodMs < limitMs) return;
    const [only, other] = present;
    if (only === undefined) return;
    if (other === undefined) return report(log, only.suspect, stoodMs);
    reportAll(log, present, stoodMs);
  };
  return {
    begin: (suspect) => {
      const entry: Entry = { suspect, since: performance.now(), until: Infinity };
      if (timer === undefined) {
        looked = entry.since;
        lookedAt = processorMs();
        timer = setInterval(look, everyMs).unref();
      }
      entries.add(entry);
      const leave = onBegin?.(suspect);
      return {
        ran: (ms) => {
          if (ms < limitMs) return;
          explained += ms;
          const blockedMs = Math.min(Math.round(ms), computedMs());
          if (blockedMs >= limitMs) report(log, suspect, blockedMs);
        },
        end: () => {
          leave?.();
          entry.until = performance.now();
          // Now, while its step can still say so: the timer comes after its end.
          if (entry.until - looked - everyMs > limitMs) look();
        },
      };
    },
  };
}

function report(log: Log, { plugin, about, blocked }: Suspect, ms: number): void {
  blocked(ms);
  const message = `Plugin ${plugin} blocked the engine for ${ms} ms (step ${String(about['step'])} of job ${String(about['job'])}); with export const isolate = 'thread' it holds up nobody else.`;
  log.warn({ ...about, blocked_ms: ms }, message);
}

function reportAll(log: Log, present: readonly Entry[], ms: number): void {
  const names = present.map(({ suspect: { plugin, about } }) => {
    return `${plugin} (step ${String(about['step'])} of job ${String(about['job'])})`;
  });
  const plugins = present.map(({ suspect }) => suspect.plugin);
  log.warn(
    { blocked_ms: ms, plugins },
    `One of these plugins blocked the engine for ${ms} ms: ${names.join(', ')}; with export const isolate = 'thread' it holds up nobody else.`,
  );
}

/** Called with the id of the job that this thread works on; undefined: it has left off. */
export type OnDecide = (job: string | undefined) => void;

/** Does something about a job that takes no turn of the event loop, so that a watchdog can name the job. */
export function withCurrentJob<T>(onDecide: OnDecide | undefined, job: string, work: () => T): T {
  if (onDecide === undefined) return work();
  onDecide(job);
  try {
    return work();
  } finally {
    onDecide(undefined);
  }
}

/** The longest id that is passed to a watchdog, bytes; CouchDB takes longer ones, which are not named. */
const longestId = 2_000;

/** The job on which a thread works, for another thread that goes on when the first one does not. */
export function createNotice(): { readonly shared: SharedArrayBuffer; readonly write: OnDecide } {
  const shared = new SharedArrayBuffer(2 + longestId);
  const notice = Buffer.from(shared);
  return {
    shared,
    write: (job) => {
      const bytes = job === undefined ? 0 : Buffer.byteLength(job);
      if (job !== undefined && bytes <= longestId) notice.write(job, 2);
      notice.writeUInt16LE(bytes > longestId ? 0 : bytes, 0);
    },
  };
}

/** `notice`: what `createNotice` shares. */
export function readNotice(notice: Buffer): string | undefined {
  const bytes = notice.readUInt16LE(0);
  return bytes === 0 ? undefined : notice.toString('utf8', 2, 2 + bytes);
}

/** Number of calls at the same time; of more the others are not named. */
const mostCalls = 1_024;
/** The longest text about a call, bytes. */
const longestCall = 1_022;
/** A place holds the length of a text (2 bytes), 0 when it is free, and the text. */
const placeBytes = 2 + longestCall;

/** The calls of plugins in one thread, for another thread that goes on when the first one does not. */
export type SharedCalls = {
  readonly shared: SharedArrayBuffer;
  /** A call begins; the answer ends it. */
  readonly begin: (call: AttributedCall) => () => void;
};

/**
 * Keeps the calls of this thread in memory that others read: a message for each of them would wake the
 * other thread, which costs a tenth of all that an engine does for a short step.
 */
export function createSharedCalls(): SharedCalls {
  const shared = new SharedArrayBuffer(mostCalls * placeBytes);
  const memory = Buffer.from(shared);
  const free: number[] = [];
  let used = 0;
  return {
    shared,
    begin: (call) => {
      const place = free.pop() ?? used;
      if (place === mostCalls) return () => undefined;
      if (place === used) used += 1;
      const at = place * placeBytes;
      const { plugin, file, about, endsAt } = call;
      const { job, step, attempt } = about;
      let text = JSON.stringify({ plugin, file, about: { job, step, attempt }, endsAt });
      // Where the text would be too long, the plugin alone is named.
      if (text.length * 3 > longestCall) text = shorterText(text, call);
      memory.writeUInt16LE(memory.write(text, at + 2, longestCall), at);
      return () => {
        memory.writeUInt16LE(0, at);
        free.push(place);
      };
    },
  };
}

/** Returns the text, or one with the plugin alone, or nothing: the first of them that is short enough. */
function shorterText(text: string, { plugin, endsAt }: AttributedCall): string {
  const texts = [text, JSON.stringify({ plugin, file: '', about: {}, endsAt })];
  return texts.find((one) => Buffer.byteLength(one) <= longestCall) ?? '';
}

/** Reads the calls that are there. One that begins or ends in this moment may be left out. */
export function readSharedCalls(shared: SharedArrayBuffer): readonly AttributedCall[] {
  const memory = Buffer.from(shared);
  const calls: AttributedCall[] = [];
  for (let at = 0; at < memory.length; at += placeBytes) {
    const length = memory.readUInt16LE(at);
    const call =
      length === 0 ? undefined : callIn(memory.toString('utf8', at + 2, at + 2 + length));
    if (call !== undefined) calls.push(call);
  }
  return calls;
}

function callIn(text: string): AttributedCall | undefined {
  try {
    return JSON.parse(text) as AttributedCall;
  } catch {
    return undefined;
  }
}
