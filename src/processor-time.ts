import { readFileSync } from 'node:fs';

/** What newer versions of Node tell. */
type Usage = { readonly user: number; readonly system: number };
const { threadCpuUsage } = process as { readonly threadCpuUsage?: () => Usage };

/**
 * Time of the processor that the calling thread has used, ms. Where neither Node nor the system tells
 * it of a thread, that of the process, which is more.
 */
export function threadProcessorMs(): number {
  const { user, system } = threadCpuUsage?.call(process) ?? { user: NaN, system: NaN };
  if (!Number.isNaN(user)) return (user + system) / 1_000;
  return processorMsOf('/proc/thread-self/schedstat') ?? ofProcess();
}

/** The same of a thread of Linux, by its `schedstat`: its first number is nanoseconds. */
export function processorMsOf(schedstat: string): number | undefined {
  try {
    const [ns = ''] = readFileSync(schedstat, 'utf8').split(' ');
    const ms = Number(ns) / 1e6;
    return Number.isFinite(ms) ? ms : undefined;
  } catch {
    return undefined;
  }
}

function ofProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
