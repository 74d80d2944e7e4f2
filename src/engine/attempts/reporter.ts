import { boundedLog, logLine, type LogLine, type Report } from '../../decide/report.js';

/** Gathers what a running attempt tells of itself, and has it written now and then. */
export type Reporter = {
  readonly details: (details: unknown) => void;
  readonly progress: (progress: number | string) => void;
  /** Changes of the job's data go with the end of the attempt, not with a report. */
  readonly data: (changes: Readonly<Record<string, unknown>>) => void;
  readonly log: (line: LogLine) => void;
  /** It held up everything else for so long, ms. */
  readonly blocked: (ms: number) => void;
  /** All that was told so far. */
  readonly told: () => Report;
  /** From now on nothing is written: the end of the attempt carries the rest. */
  readonly stop: () => void;
};

export type ReporterOptions = {
  /** Writes a report; what it cannot write, or rejects for, the next one carries. */
  readonly write: (report: Report) => Promise<void>;
  /** Between two writes at least, ms. */
  readonly everyMs: number;
  /** Before the first one, ms: a short attempt tells everything when it ends. */
  readonly firstMs: number;
};

/** A list of lines is made short again when it has grown to this. */
const mostLines = 200;

export function createReporter({ write, everyMs, firstMs }: ReporterOptions): Reporter {
  let told: Report = {};
  let lines: LogLine[] = [];
  let notBefore = performance.now() + firstMs;
  let timer: NodeJS.Timeout | undefined;
  let writing = false;
  let isNew = false;
  let stopped = false;

  const current = (): Report => (lines.length === 0 ? told : { ...told, log: boundedLog(lines) });
  const plan = (): void => {
    if (stopped || writing || !isNew || timer !== undefined) return;
    timer = setTimeout(() => void send(), Math.max(0, notBefore - performance.now()));
  };
  const send = async (): Promise<void> => {
    timer = undefined;
    isNew = false;
    writing = true;
    try {
      await write(current());
    } catch {
      // The next report carries it.
      isNew = true;
    }
    writing = false;
    notBefore = performance.now() + everyMs;
    plan();
  };
  const tell = (more: Report): void => {
    told = { ...told, ...more };
    isNew = true;
    plan();
  };
  return {
    details: (details) => tell({ details }),
    progress: (progress) => tell({ progress }),
    data: (changes) => {
      told = { ...told, data: { ...told.data, ...changes } };
    },
    log: (line) => {
      lines.push(logLine(line));
      if (lines.length > mostLines) lines = [...boundedLog(lines)];
      tell({});
    },
    blocked: (ms) => tell({ blockedMs: Math.max(ms, told.blockedMs ?? 0) }),
    told: current,
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
