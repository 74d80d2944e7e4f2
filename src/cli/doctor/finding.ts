/** One thing that `tws doctor` looked at. */
export type DoctorFinding = {
  readonly what: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  /** What it found: a sentence or a fact. */
  readonly says: string;
  /** What to do about it. */
  readonly todo?: string;
};
