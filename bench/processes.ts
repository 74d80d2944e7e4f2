import { readFileSync } from 'node:fs';

/** Processor time that a process has used, ms; Linux counts in hundredths of a second. NaN elsewhere. */
export function cpuMsOf(pid: number): number {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const fields = rest.split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return NaN;
  }
}

/** The most memory that a process has held at once (resident), MB; NaN where there is no `/proc`. */
export function peakMbOf(pid: number): number {
  try {
    const [, kB] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kB ?? NaN) / 1024;
  } catch {
    return NaN;
  }
}
