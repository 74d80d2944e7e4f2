import { usualLeaseMs, type EngineDocument } from '../model/engine.js';

/** An engine document and whether its engine lives, as far as one can see. */
export type SeenEngine = { readonly engine: EngineDocument; readonly alive: boolean };

/**
 * Watches the engines by looking at their documents now and then. An engine lives as long as its
 * beat moves; before that could be seen, the time of its last renewal has to do, which is of another
 * machine's clock and may be wrong.
 */
export type Pulse = {
  /** Takes what the documents say now. `now`: epoch ms of this machine. */
  readonly look: (engines: readonly EngineDocument[], now: number) => readonly SeenEngine[];
  /** Whether it is certain which engines live: each was seen to move, or watched long enough for it. */
  readonly settled: (engines: readonly EngineDocument[], now: number) => boolean;
};

type Known = {
  beat: number;
  readonly firstAt: number;
  movedAt: number | undefined;
};

/** Begins to watch; `leaseMs` is the engines' own setting. */
export function createPulse(leaseMs = usualLeaseMs): Pulse {
  const known = new Map<string, Known>();
  const look = (engine: EngineDocument, now: number): boolean => {
    const { _id: id, beat } = engine;
    const before = known.get(id) ?? { beat, firstAt: now, movedAt: undefined };
    if (before.beat !== beat) before.movedAt = now;
    known.set(id, { ...before, beat });
    if (engine.state === 'stopped') return false;
    if (before.movedAt !== undefined) return now - before.movedAt <= leaseMs;
    return now - before.firstAt < leaseMs && now - renewedAt(engine) < leaseMs;
  };
  return {
    look: (engines, now) => engines.map((engine) => ({ engine, alive: look(engine, now) })),
    settled: (engines, now) =>
      engines.every(({ _id, state }) => {
        const seen = known.get(_id);
        if (state === 'stopped' || seen === undefined) return true;
        // A lease is renewed three times in its length.
        return seen.movedAt !== undefined || now - seen.firstAt >= leaseMs / 2;
      }),
  };
}

/** When an engine last renewed its lease, by its own clock (epoch ms). */
export function renewedAt(engine: EngineDocument): number {
  const { renewed } = engine;
  return typeof renewed === 'number' ? renewed : engine.started;
}
