import type { SlotUse } from '../../src/decide/compete/fair-share.js';
import type { LiveJob } from '../../src/model/job.js';
import type { LiveStep } from '../../src/model/step.js';

/** Jobs of one owner, each a root of its own with one step at a time: nobody has more than others. */
const evenUse: SlotUse = {
  ...{ ofOwner: new Map(), ofRoot: new Map() },
  ...{ had: () => 0, lastOfOwner: () => 0, lastOfRoot: () => 0 },
};

/** The slots of one engine and the claims that have them. */
export class Attempts {
  readonly claims = new Set<string>();
  readonly ofJob = new Map<string, Set<string>>();
  readonly #slots: number;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Free slots; those of `ended`, whose outcomes are about to be written, count as free. */
  free(ended: readonly string[] = []): number {
    const freed = ended.filter((claim) => this.claims.has(claim)).length;
    return Math.max(0, this.#slots - this.claims.size + freed);
  }

  use = (): SlotUse => evenUse;

  hasRoom = (): boolean => true;

  take(job: LiveJob, steps: readonly LiveStep[]): void {
    const of = this.ofJob.get(job._id) ?? new Set<string>();
    this.ofJob.set(job._id, of);
    for (const { claim } of steps) {
      of.add(claim);
      this.claims.add(claim);
    }
  }

  release(job: string, claim: string): void {
    const of = this.ofJob.get(job);
    of?.delete(claim);
    if (of?.size === 0) this.ofJob.delete(job);
    this.claims.delete(claim);
  }
}
