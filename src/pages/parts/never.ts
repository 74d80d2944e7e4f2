/** What engines write as `next_due` of a job that only a signal or an event wakes, epoch ms. */
const never = 4_320_000_000_000_000;

/** Whether a moment will never come. */
export function isNeverDue(at: number): boolean {
  return at >= never;
}
