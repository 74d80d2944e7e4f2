import { performance } from 'node:perf_hooks';
import type { Client, Reason } from '../client.js';
import { problem } from '../errors.js';
import type { StoredDocument } from '../model/document.js';
import { lengthOf } from '../words.js';
import { createAbsence } from './absence.js';
import type { Io } from './io.js';
import { progressText } from './job-picture.js';
import { exitOf, stateLine } from './jobs.js';
import { isWanted, reasonText, watchReasons } from './reasons.js';
import { createRedraw } from './redraw.js';
import { createSparing } from './sparing.js';

export type JobWaitOptions = {
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

/** How long a database may give no answer while a job is waited for, seconds. */
export const giveUpSeconds = 60;

/** A server that keeps silent is noticed after three times of this, ms. */
const heartbeatMs = 3_000;

/**
 * Waits for the end of a job and prints what comes of it; the answer is the job's exit. Meanwhile it
 * tells on stderr how far the job is; while nothing changes the reason is told once, and so is a
 * database that answers no more.
 * @throws TwsError `wait_given_up`, `wait_over`, `document_missing`
 */
export async function waitForJob(client: Client, options: JobWaitOptions, io: Io): Promise<number> {
  const { id, database, giveUpMs, timeoutMs, quietMs, leaseMs } = options;
  const over = new AbortController();
  const limit = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
  const signal = AbortSignal.any([io.stop, over.signal, ...limit]);
  const progress = createProgress(io);
  const { warn } = progress;
  const away = createAbsence({ giveUpMs, database, warn, onGiveUp: () => over.abort() }, io);
  const tell = (reasons: readonly Reason[]): void => progress.tell(reasons);
  const reasons = watchReasons(client, { id, quietMs, leaseMs, signal, isAway: away.now, tell });
  const onChange = (job: StoredDocument): void => {
    progress.moved(job);
    reasons.moved();
  };
  try {
    const job = await client.watch(id, { signal, onChange, onState: away.take, heartbeatMs });
    progress.end();
    if (job !== undefined) {
      // Of a failure one sentence says all; a program asks for --json.
      if (exitOf(job) === 0) io.block(await outcomeText(job));
      else io.warn(stateLine(job, io));
      io.json(job);
      return exitOf(job);
    }
  } finally {
    progress.end();
    away.end();
    over.abort();
    await reasons.ended;
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

type Progress = {
  /** A new revision of the job. */
  readonly moved: (job: StoredDocument) => void;
  readonly tell: (reasons: readonly Reason[]) => void;
  readonly warn: (line: string) => void;
  readonly end: () => void;
};

/** On a terminal one line that changes in its place; anywhere else a line for each new state. */
function createProgress(io: Io): Progress {
  const terminal = io.terminal('stderr');
  const redraw = terminal === undefined ? undefined : createRedraw(terminal);
  const begun = performance.now();
  let current: StoredDocument | undefined;
  let shown = '';
  const draw = (): void => {
    if (current === undefined || redraw === undefined) return;
    const since = io.style('dim', lengthOf(performance.now() - begun), 'stderr');
    redraw.draw([`${lineOf(current, io)}  ${since}`]);
  };
  const above =
    (print: (line: string) => void) =>
    (line: string): void => {
      redraw?.clear();
      print(line);
      draw();
    };
  const drawing = createSparing(draw);
  const timer = redraw === undefined ? undefined : setInterval(draw, 1_000);
  return {
    warn: above(io.warn),
    tell: (reasons) => {
      for (const reason of reasons) {
        const text = reasonText(reason);
        if (isWanted(reason)) above(io.say)(`  ${io.style('dim', text, 'stderr')}`);
        else above(io.warn)(`  ${io.style('yellow', text, 'stderr')}`);
      }
    },
    moved: (job) => {
      const failed = typeof job['exit'] === 'number' && job['exit'] !== 0;
      current = failed ? undefined : job;
      if (redraw !== undefined) return drawing.soon();
      const state = stateLine(job, io);
      if (state !== shown && !failed) io.say(lineOf(job, io));
      shown = state;
    },
    end: () => {
      clearInterval(timer);
      drawing.end();
      redraw?.clear();
      current = undefined;
    },
  };
}

function lineOf(job: StoredDocument, io: Io): string {
  const progress = progressText(job);
  return `${stateLine(job, io)}${progress === '' ? '' : `, ${progress}`}`;
}

/** Loaded when there is something to read: most commands do not wait. */
async function outcomeText(job: StoredDocument): Promise<string> {
  const { outcomeOf } = await import('./outcome.js');
  return JSON.stringify(outcomeOf(job), null, 2);
}
