import { readFileSync, writeFileSync } from 'node:fs';

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
  return statusMb(pid, /^VmHWM:\s+(\d+)/m);
}

/** The memory that a process holds now (resident), MB; NaN where there is no `/proc`. */
export function memoryMbOf(pid: number): number {
  return statusMb(pid, /^VmRSS:\s+(\d+)/m);
}

/** From now on the peak counts what the process holds from now on; does nothing where there is no `/proc`. */
export function restartPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // The peak is then that of the whole life of the process.
  }
}

function statusMb(pid: number, line: RegExp): number {
  try {
    const [, kB] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kB ?? NaN) / 1024;
  } catch {
    return NaN;
  }
}
