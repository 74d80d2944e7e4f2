import { type Reason, readSteps, type StepReading } from '../client.js';
import type { StoredDocument } from '../model/document.js';
import { lengthOf, momentFrom } from '../words.js';
import type { Io } from './io.js';
import { progressText } from './job-picture.js';
import { colourOf, jobFacts, stateLine } from './jobs.js';
import { isWanted, reasonText } from './reasons.js';
import { createRedraw } from './redraw.js';
import { createSparing } from './sparing.js';
import { stepLines } from './step-lines.js';
import type { Terminal } from './terminal.js';
import { plain } from './safe.js';

/** Shows how a job goes on. */
export type JobView = {
  /** A new revision of the job. */
  readonly moved: (job: StoredDocument) => void;
  /** Why it does not move. */
  readonly tell: (reasons: readonly Reason[]) => void;
  /** A line about something wrong. */
  readonly warn: (line: string) => void;
  /** Ends the view; what it showed last stays. */
  readonly end: () => void;
};

/** The job and its steps, drawn again and again in their place. */
export function drawnView(terminal: Terminal, io: Io): JobView {
  const redraw = createRedraw(terminal);
  let job: StoredDocument | undefined;
  let reasons: readonly Reason[] = [];
  let ended = false;
  const draw = (): void => {
    if (job !== undefined && !ended) redraw.draw(screenOf(job, reasons, terminal, io));
  };
  const timer = setInterval(draw, 1_000);
  const offResize = terminal.onResize(draw);
  const drawing = createSparing(draw);
  return {
    moved: (next) => {
      job = next;
      reasons = [];
      drawing.soon();
    },
    tell: (next) => {
      reasons = next;
      draw();
    },
    warn: (line) => {
      redraw.clear();
      io.warn(line);
      draw();
    },
    end: () => {
      if (ended) return;
      drawing.end();
      draw();
      ended = true;
      clearInterval(timer);
      offResize();
    },
  };
}

function screenOf(
  job: StoredDocument,
  reasons: readonly Reason[],
  terminal: Terminal,
  io: Io,
): readonly string[] {
  const now = Date.now();
  const { id, key, status, took_ms: took, due, failure } = jobFacts(job, now);
  const time = took === undefined ? '' : `  ${lengthOf(took)}`;
  const when = due === undefined ? '' : `  ${momentFrom(now, Date.parse(due))}`;
  const progress = progressText(job);
  const word = io.style(colourOf(status), status);
  const head = `${io.style('bold', plain(key))}  ${word}${time}${when}  ${io.style('dim', plain(id))}`;
  const why = [
    ...(failure === undefined ? [] : [io.style('red', plain(failure))]),
    ...reasons.map((one) => io.style(isWanted(one) ? 'dim' : 'yellow', plain(reasonText(one)))),
  ];
  const top = [head, ...(progress === '' ? [] : [io.style('dim', progress)])];
  const { lines, first } = stepLines(job, now, io);
  const room = terminal.size().rows - 1 - top.length - why.length;
  return [...top, ...windowed(lines, room, first, io), ...why];
}

/** As many lines as there is room for, with those around `first`; what is left out is counted. */
export function windowed(
  lines: readonly string[],
  room: number,
  first: number,
  io: Pick<Io, 'style'>,
): readonly string[] {
  if (lines.length <= room) return lines;
  const most = Math.max(1, room - 2);
  const from = Math.max(0, Math.min(first - Math.floor(most / 2), lines.length - most));
  const more = (count: number, where: string): readonly string[] =>
    count === 0 ? [] : [io.style('dim', `  … ${count} more ${where}`)];
  return [
    ...more(from, 'above'),
    ...lines.slice(from, from + most),
    ...more(lines.length - from - most, 'below'),
  ];
}

/** A line for each thing that happens to a step, for whoever reads it later. */
export function lineView(io: Io): JobView {
  const shown = new Map<string, string>();
  let begun: number | undefined;
  let last = '';
  return {
    moved: (job) => {
      const now = Date.now();
      const { start } = job;
      begun ??= typeof start === 'number' ? start : undefined;
      for (const step of readSteps(job)) {
        const key = `${step.path}#${step.run ?? 1}#${step.attempt ?? 1}#${step.due ?? ''}`;
        if (shown.get(key) === step.state) continue;
        shown.set(key, step.state);
        io.out(`${sinceStart(step, begun, now)}  ${stepText(step, now)}`);
      }
      const line = stateLine(job, io, 'stdout');
      if (line !== last) io.out(line);
      last = line;
    },
    tell: (reasons) => {
      for (const reason of reasons) io.warn(`  ${reasonText(reason)}`);
    },
    warn: io.warn,
    end: () => undefined,
  };
}

function sinceStart({ end, start, accepted }: StepReading, begun = 0, now: number): string {
  const at = end ?? start ?? accepted ?? now;
  return `+${((at - begun) / 1000).toFixed(3)}s`.padStart(11);
}

function stepText(step: StepReading, now: number): string {
  const { name, path, state, attempt = 1, start, end, failure, due } = step;
  const again = attempt > 1 ? ` (attempt ${attempt})` : '';
  const took = start === undefined || end === undefined ? '' : ` after ${lengthOf(end - start)}`;
  const why = failure === undefined ? '' : `: ${plain(failure)}`;
  const retry = due === undefined ? '' : ` Again ${momentFrom(now, due)}.`;
  return `${plain(path)} ${plain(name)}${again} ${wordOf(state)}${took}${why}${retry}`;
}

function wordOf(state: string): string {
  const words: Readonly<Record<string, string>> = {
    $$ready: 'claimed',
    $$active: 'runs',
    $$waiting: 'waits',
    $$complete: 'done',
    $$error: 'failed',
    $$timeout: 'timed out',
    $$cancelled: 'cancelled',
    $$skipped: 'skipped',
  };
  return words[state] ?? state;
}
