import { describe, expect, it } from 'vitest';
import { answerMs, type MainThread } from '../../../src/engine/watch/main-thread.js';
import {
  createBlockDetector,
  lookMs,
  type BlockFinding,
} from '../../../src/engine/watch/event-loop-block.js';

const answering = { isAnswering: true, at: undefined };
const silent: MainThread = { isAnswering: false, attribution: undefined, at: undefined };

type Run = {
  /** When the loop stands still, ms after a look. */
  readonly from: number;
  /** When the time of the attempt is over, ms after that. */
  readonly timeout: number;
  /** What the main thread answers, and after how long, ms. */
  readonly asks: readonly (readonly [MainThread, afterMs: number])[];
  readonly leaseMs?: number;
  readonly isDebugged?: boolean;
  readonly isRunning?: boolean;
  readonly isStarved?: (now: number) => boolean;
  readonly until?: number;
};
type Told = { readonly said: readonly string[]; readonly saidAt?: number; readonly ended?: Ended };
type Ended = BlockFinding & { readonly at: number };

/** Looks by a clock of its own; the loop beats every 100 ms until it stands still. */
async function run(given: Run): Promise<Told> {
  const { from, timeout, asks, leaseMs = 60_000, until = 10_000 } = given;
  let now = 0;
  let asked = 0;
  const said: string[] = [];
  let saidAt: number | undefined;
  let ended: Ended | undefined;
  const plugin = { plugin: 'p', file: 'p.mjs', about: { job: 'j', step: 's' } };
  const attribution = { ...plugin, endsAt: from + timeout };
  const waiting: { readonly at: number; readonly answer: () => void }[] = [];
  const { look } = createBlockDetector({
    beat: () => Math.floor(Math.min(now, from) / 100),
    now: () => now,
    leaseMs,
    isStarved: () => given.isStarved?.(now) ?? false,
    isDebugged: () => given.isDebugged ?? false,
    ask: () => {
      const [answer, afterMs] = asks[Math.min(asked, asks.length - 1)] ?? [silent, 0];
      asked += 1;
      const told = answer.isAnswering ? { ...answer, attribution } : answer;
      return new Promise((resolve) => {
        waiting.push({ at: now + afterMs, answer: () => resolve(told) });
      });
    },
    isRunning: () => given.isRunning ?? false,
    calls: () => [attribution],
    decided: () => undefined,
    hasComputed: () => true,
    say: (message) => {
      said.push(message);
      saidAt ??= now;
    },
    onBeat: () => undefined,
    end: (_stoodMs, found) => {
      ended ??= { ...found, at: now };
      return Promise.resolve();
    },
  });
  for (now = 0; now <= until && ended === undefined; now += 10) {
    for (const { at, answer } of waiting) if (at <= now) answer();
    if (now % lookMs === 0) void look();
    await new Promise(setImmediate);
  }
  return { said, ...(saidAt === undefined ? {} : { saidAt }), ...(ended && { ended }) };
}

const offsets = [1_000, 1_010, 1_090, 1_130, 1_240];

describe('a plugin that blocks the event loop', () => {
  it.each<readonly [string, MainThread, afterMs: number]>([
    ['JavaScript, which answers at once', { ...answering, attribution: undefined }, 0],
    [
      'JavaScript, which answers in the last moment',
      { ...answering, attribution: undefined },
      answerMs - 10,
    ],
    ['a system call, which does not answer', silent, answerMs],
  ])('E7: is named and ended within 2 s of its timeout: %s', async (_title, answer, afterMs) => {
    for (const timeout of [0, 100, 500, 1_000, 1_700, 5_000]) {
      for (const from of offsets) {
        const {
          saidAt = Infinity,
          said,
          ended,
        } = await run({ from, timeout, asks: [[answer, afterMs]] });
        const over = from + timeout;
        expect(said).toEqual([expect.stringContaining('Plugin p (step s of job j)')]);
        expect(saidAt - over).toBeLessThan(2_000);
        expect(ended?.attribution).toMatchObject({ plugin: 'p' });
        const endedAt = ended?.at ?? Infinity;
        expect(endedAt - over).toBeLessThan(2_000);
        expect(endedAt).toBeGreaterThanOrEqual(over + 500);
      }
    }
  });

  it('is asked again while the main thread runs and does not answer', async () => {
    const asks = [
      [silent, 500],
      [silent, 500],
      [{ ...answering, attribution: undefined }, 0],
    ] as const;
    const { said } = await run({ from: 1_000, timeout: 0, asks, isRunning: true });
    expect(said).toEqual([expect.stringMatching(/^Plugin p .* has blocked the engine/)]);
  });

  it('is not blamed for what the machine does, or a debugger', async () => {
    const asks = [[silent, 500]] as const;
    const starved = await run({ from: 1_000, timeout: 0, asks, isStarved: () => true });
    expect(starved).toEqual({ said: [] });
    const debugged = await run({ from: 1_000, timeout: 0, asks, isDebugged: true });
    expect(debugged.ended).toBeUndefined();
    expect(debugged.said).toEqual([expect.stringContaining('The inspector is open')]);
  });

  it('is ended with the lease where nothing limits its time', async () => {
    const asks = [[{ ...answering, attribution: undefined }, 0]] as const;
    const { ended } = await run({ from: 1_000, timeout: Infinity, asks, leaseMs: 3_000 });
    expect(ended?.at).toBeLessThanOrEqual(1_000 + 3_000 + lookMs);
  });
});
