import { setTimeout as sleep } from 'node:timers/promises';
import { createPulse, type Client, type Reason } from '../client.js';
import { problem, TwsError } from '../errors.js';
import type { StoredDocument } from '../model/parse.js';
import { lengthOf } from '../words.js';
import type { Io } from './io.js';
import { exitOf, outcomeOf, stateLine } from './jobs.js';

export type WaitOptions = {
  readonly id: string;
  /** Name of the database in sentences. */
  readonly database: string;
  /** Without any answer of the database for so long the wait is given up, ms. */
  readonly giveUpMs: number;
  /** The longest wait, ms; absent: until the job ends. */
  readonly timeoutMs?: number | undefined;
  /** After so long without a change the reason is told, ms; each look after that comes later. */
  readonly quietMs?: number | undefined;
  readonly leaseMs?: number | undefined;
};

/** The longest time between two looks at why a job does not move, ms. */
const longestQuietMs = 30_000;
/** A server that keeps silent is noticed after three times of this, ms. */
const heartbeatMs = 3_000;

/**
 * Waits for the end of a job and prints what comes of it; the answer is the job's exit. While
 * nothing changes the reason is told once, and so is a database that answers no more.
 * @throws TwsError `wait_given_up`, `wait_over`, `document_missing`
 */
export async function waitForJob(client: Client, options: WaitOptions, io: Io): Promise<number> {
  const { id, database, giveUpMs, timeoutMs } = options;
  const over = new AbortController();
  const limit = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  const signal = AbortSignal.any([io.stop, over.signal, ...limit]);
  const away = createAbsence({ giveUpMs, database, onGiveUp: () => over.abort() }, io);
  const quiet = tellReasons(client, { ...options, signal, isAway: away.now }, io);
  try {
    const onChange = (job: StoredDocument): void => quiet.moved(job);
    const job = await client.watch(id, { signal, onChange, onState: away.take, heartbeatMs });
    if (job !== undefined) {
      // Of a failure one sentence says all; a program asks for --json.
      if (exitOf(job) === 0) io.out(JSON.stringify(outcomeOf(job), null, 2));
      else io.warn(stateLine(job, io));
      io.json(job);
      return exitOf(job);
    }
  } finally {
    away.end();
    over.abort();
    await quiet.ended;
  }
  if (away.gaveUp()) throw problem('wait_given_up', { id, database, ms: giveUpMs });
  if (io.stop.aborted) {
    io.warn(`Job ${id} goes on; see \`tws view ${id}\`.`);
    return 130;
  }
  if (timeoutMs !== undefined && limit[0]?.aborted === true) {
    throw problem('wait_over', { id, ms: timeoutMs });
  }
  throw problem('document_missing', { id });
}

type Absence = {
  readonly take: (state: { readonly kind: 'following' | 'lost'; readonly cause?: string }) => void;
  /** Whether the database answers no more at the moment. */
  readonly now: () => boolean;
  readonly gaveUp: () => boolean;
  readonly end: () => void;
};

type AbsenceOptions = {
  readonly giveUpMs: number;
  readonly database: string;
  readonly onGiveUp: () => void;
};

/** Says once that the database is away and once that it is back; gives up after a while. */
function createAbsence({ giveUpMs, database, onGiveUp }: AbsenceOptions, io: Io): Absence {
  let timer: NodeJS.Timeout | undefined;
  let given = false;
  return {
    now: () => timer !== undefined,
    gaveUp: () => given,
    end: () => clearTimeout(timer),
    take: ({ kind, cause = 'no answer' }) => {
      if (kind === 'lost' && timer === undefined) {
        const text = `Database ${database} does not answer (${cause.replace(/\.$/, '')}); trying again for ${lengthOf(giveUpMs)}.`;
        io.warn(io.style('yellow', text, 'stderr'));
        timer = setTimeout(() => {
          given = true;
          onGiveUp();
        }, giveUpMs);
      } else if (kind === 'following' && timer !== undefined) {
        clearTimeout(timer);
        timer = undefined;
        io.warn(`Database ${database} answers again.`);
      }
    },
  };
}

type Teller = {
  /** A new revision of the job: its state is told, and the quiet begins anew. */
  readonly moved: (job: StoredDocument) => void;
  readonly ended: Promise<void>;
};

type TellerOptions = Pick<WaitOptions, 'id' | 'quietMs' | 'leaseMs'> & {
  readonly signal: AbortSignal;
  readonly isAway: () => boolean;
};

function tellReasons(client: Client, options: TellerOptions, io: Io): Teller {
  const { id, quietMs = 3_000, leaseMs, signal } = options;
  const pulse = createPulse(leaseMs);
  let changed = new AbortController();
  let toldState = '';
  let toldReason = '';
  const tell = async (): Promise<void> => {
    if (options.isAway()) return;
    try {
      const { reasons } = await client.explain(id, pulse);
      // Which engine runs a step, and since when, is the same reason a moment later.
      const key = reasons.map(({ kind }) => kind).join();
      if (key === toldReason || signal.aborted) return;
      toldReason = key;
      for (const reason of reasons) tellReason(reason, io);
    } catch (error) {
      // The watch tells of a database that is away, and of a job that is gone.
      if (!(error instanceof TwsError)) throw error;
    }
  };
  const run = async (): Promise<void> => {
    let waitMs = quietMs;
    while (!signal.aborted) {
      const either = AbortSignal.any([signal, changed.signal]);
      const slept = await sleep(waitMs, true, { signal: either }).catch(() => false);
      if (changed.signal.aborted) changed = new AbortController();
      waitMs = slept ? Math.min(longestQuietMs, waitMs * 2) : quietMs;
      if (slept) await tell();
    }
  };
  const ended = run();
  // It is awaited when the watch is over; until then a rejection is nobody's.
  ended.catch(() => undefined);
  return {
    ended,
    moved: (job) => {
      const line = stateLine(job, io);
      const failed = typeof job['exit'] === 'number' && job['exit'] !== 0;
      if (line !== toldState && !failed) io.say(line);
      toldState = line;
      toldReason = '';
      changed.abort();
    },
  };
}

/** What waiting alone will not mend is a warning; the rest is progress. */
function tellReason({ kind, because, todo }: Reason, io: Io): void {
  const text = todo === undefined ? because : `${because} ${todo}`;
  const wanted = ['running', 'scheduled', 'retry', 'child', 'waiting', 'soon', 'ended'];
  if (wanted.includes(kind)) io.say(`  ${io.style('dim', text, 'stderr')}`);
  else io.warn(`  ${io.style('yellow', text, 'stderr')}`);
}
