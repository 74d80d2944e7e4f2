import { withFields, type Log } from '../log.js';
import { createLru } from '../memo.js';

export { withFields, type Log };

/** Logs each message about a job once until the job is stored. */
export type LogOnce = {
  /** The jobs about which something was logged since they were stored. */
  readonly said: Pick<ReadonlyMap<string, unknown>, 'has'>;
  /** Logs a line about a job, unless it was logged since the job was last stored. */
  readonly log: (level: 'warn' | 'error', job: string, message: string) => void;
  /** Nobody knows whether the end of the job is stored; it is tried again. Each cause is logged once. */
  readonly waits: (job: string, cause: string) => void;
  /** The job is stored, which is logged if it had to wait. */
  readonly stored: (job: string) => void;
  /** Somebody else has changed the job: its messages are new again. */
  readonly forget: (job: string) => void;
};

type Entry = { readonly lines: Set<string>; waits: boolean };

/** Number of jobs that are remembered. */
const remembered = 1_000;
/** Number of lines about one job that are remembered. */
const mostLines = 20;

export function createLogOnce(log: Pick<Log, 'info' | 'warn' | 'error'>): LogOnce {
  const jobs = createLru<Entry>(remembered);
  const of = (job: string): Entry => {
    const entry = jobs.get(job) ?? { lines: new Set(), waits: false };
    jobs.set(job, entry);
    return entry;
  };
  const logOnce: LogOnce['log'] = (level, job, message) => {
    const { lines } = of(job);
    if (lines.has(message)) return;
    if (lines.size === mostLines) lines.clear();
    lines.add(message);
    log[level]({ job }, message);
  };
  return {
    said: jobs,
    log: logOnce,
    waits: (job, cause) => {
      of(job).waits = true;
      logOnce('warn', job, `Job ${job} cannot be ended yet: ${cause}. Trying again.`);
    },
    stored: (job) => {
      if (jobs.get(job)?.waits === true) log.info({ job }, `Job ${job} is stored now.`);
      jobs.delete(job);
    },
    forget: (job) => void jobs.delete(job),
  };
}
