import { systemClock, type Clock } from '../../clock/clock.js';
import { boundedLog, logLine, type LogLine, type Report } from '../../decide/finish/report.js';

/** Collects the reports of a running attempt and has them written at intervals. */
export type Reporter = {
  readonly details: (details: unknown) => void;
  readonly progress: (progress: number | string) => void;
  /** Of the job: a text of its own beside its status; null: none. */
  readonly status: (status: string | null) => void;
  /** Changes of the job's data go with the end of the attempt, not with a report; `always`: with any end. */
  readonly data: (changes: Readonly<Record<string, unknown>>, always: boolean) => void;
  readonly log: (line: LogLine) => void;
  /** It held up everything else for so long, ms. */
  readonly blocked: (ms: number) => void;
  /** All that was reported so far. */
  readonly report: () => Report;
  /** From now on nothing is written: the end of the attempt carries the rest. */
  readonly stop: () => void;
};

export type ReporterOptions = {
  /** Writes a report; what it cannot write, or rejects for, the next one carries. */
  readonly write: (report: Report) => Promise<void>;
  /** Between two writes at least, ms. */
  readonly everyMs: number;
  /** Before the first one, ms: a short attempt reports everything when it ends. */
  readonly firstMs: number;
  /** Default: the clock of the machine. */
  readonly clock?: Pick<Clock, 'steady' | 'after'>;
};

/** A list of lines is made short again when it has grown to this. */
const mostLines = 200;

export function createReporter({
  write,
  everyMs,
  firstMs,
  clock: { steady, after } = systemClock,
}: ReporterOptions): Reporter {
  let report: Report = {};
  let lines: LogLine[] = [];
  let notBefore = steady() + firstMs;
  let callOff: (() => void) | undefined;
  let writing = false;
  let isNew = false;
  let stopped = false;

  const current = (): Report =>
    lines.length === 0 ? report : { ...report, log: boundedLog(lines) };
  const plan = (): void => {
    if (stopped || writing || !isNew || callOff !== undefined) return;
    callOff = after(Math.max(0, notBefore - steady()), () => void send());
  };
  const send = async (): Promise<void> => {
    callOff = undefined;
    isNew = false;
    writing = true;
    try {
      await write(current());
    } catch {
      // The next report carries it.
      isNew = true;
    }
    writing = false;
    notBefore = steady() + everyMs;
    plan();
  };
  const add = (more: Report): void => {
    report = { ...report, ...more };
    isNew = true;
    plan();
  };
  return {
    details: (details) => add({ details }),
    progress: (progress) => add({ progress }),
    status: (status) => add({ status }),
    data: (changes, always) => {
      const key = always ? 'dataAnyhow' : 'data';
      report = { ...report, [key]: { ...report[key], ...changes } };
    },
    log: (line) => {
      lines.push(logLine(line));
      if (lines.length > mostLines) lines = [...boundedLog(lines)];
      add({});
    },
    blocked: (ms) => add({ blockedMs: Math.max(ms, report.blockedMs ?? 0) }),
    report: current,
    stop: () => {
      stopped = true;
      callOff?.();
    },
  };
}
