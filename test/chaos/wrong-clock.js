/* Preloaded into an engine: its wall clock is wrong by CHAOS_CLOCK_MS. Monotonic clocks are not. */
const offMs = Number(process.env.CHAOS_CLOCK_MS ?? 0);
const RightDate = Date;

if (offMs !== 0) {
  globalThis.Date = class Date extends RightDate {
    constructor(...given) {
      if (given.length === 0) super(RightDate.now() + offMs);
      else super(...given);
    }

    static now() {
      return RightDate.now() + offMs;
    }
  };
}
