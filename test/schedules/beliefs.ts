/** Who believes whom to be dead, rightly or not, and since when others may act on it. Times ms. */
export class Beliefs {
  readonly #dead = new Map<string, Set<string>>();
  readonly #doubtedAt = new Map<string, number>();

  /** `viewer` changes its mind about an engine. */
  set(viewer: string, engine: string, isDead: boolean, at: number): void {
    const dead = this.#dead.get(viewer) ?? new Set();
    this.#dead.set(viewer, dead);
    if (!isDead) return void dead.delete(engine);
    dead.add(engine);
    this.doubt(engine, at);
  }

  /** From now on there is a reason to repeat what this engine has in hand. */
  doubt(engine: string, at: number): void {
    if (!this.#doubtedAt.has(engine)) this.#doubtedAt.set(engine, at);
  }

  isDead(viewer: string, engine: string): boolean {
    return this.#dead.get(viewer)?.has(engine) === true;
  }

  /** Whether there was a reason by that time. */
  wasDoubted(engine: string, by: number): boolean {
    return (this.#doubtedAt.get(engine) ?? Infinity) <= by;
  }
}
