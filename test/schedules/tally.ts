import { reasons, type Reason, type Verdict } from './judge.js';

/** What came of many schedules. */
export type Tally = {
  readonly schedules: number;
  /** Schedules with a double run, with a job that did not end, with an end that was lost … */
  readonly double: number;
  readonly stuck: number;
  readonly lost: number;
  readonly unexplained: number;
  readonly starts: number;
  readonly repeated: Readonly<Record<Reason, number>>;
};

export const emptyTally: Tally = {
  schedules: 0,
  double: 0,
  stuck: 0,
  lost: 0,
  unexplained: 0,
  starts: 0,
  repeated: { retry: 0, lease: 0, released: 0 },
};

export function tally(total: Tally, verdict: Verdict): Tally {
  const one = (list: readonly string[]): number => (list.length === 0 ? 0 : 1);
  const { repeated } = total;
  return {
    schedules: total.schedules + 1,
    double: total.double + one(verdict.double),
    stuck: total.stuck + one(verdict.stuck),
    lost: total.lost + one(verdict.lost),
    unexplained: total.unexplained + one(verdict.unexplained),
    starts: total.starts + verdict.starts,
    repeated: {
      retry: repeated.retry + verdict.repeated.retry,
      lease: repeated.lease + verdict.repeated.lease,
      released: repeated.released + verdict.repeated.released,
    },
  };
}

/** Everything that must not be, in sentences. */
export function wrongs({ double, stuck, lost, unexplained }: Verdict): readonly string[] {
  return [
    ...double.map((what) => `DOUBLE: ${what}`),
    ...stuck.map((what) => `STUCK: ${what}.`),
    ...lost.map((what) => `LOST: ${what}`),
    ...unexplained.map((what) => `UNEXPLAINED: ${what}`),
  ];
}

/** `schedules=100000 double=0 stuck=0 lost=0 unexplained=0 starts=… retry=… lease=… released=…` */
export function lastLine({ repeated, ...figures }: Tally): string {
  const all = [
    ...Object.entries(figures),
    ...reasons.map((reason) => [reason, repeated[reason]] as const),
  ];
  return all.map(([name, figure]) => `${name}=${figure}`).join(' ');
}
