import { threadProcessorMs } from '../src/processor-time.js';

/** The longest times for which the event loop did nothing else, ms. */
export type Block = {
  /** By the clock: on a machine that others use the loop waits for a processor, too. */
  readonly wallMs: number;
  /** What this thread computed without a pause. */
  readonly cpuMs: number;
};

/** So often it is looked whether the event loop goes on, ms. */
const everyMs = 5;

const none: Block = { wallMs: 0, cpuMs: 0 };

/** The longer of two, each time by itself. */
export function longer(one: Block, other: Block): Block {
  return {
    wallMs: Math.max(one.wallMs, other.wallMs),
    cpuMs: Math.max(one.cpuMs, other.cpuMs),
  };
}

/** Watches the event loop of this thread; the answer tells the longest blocks since it was last asked. */
export function watchBlocks(): () => Block {
  let longest = none;
  let looked = performance.now();
  let used = threadProcessorMs();
  setInterval(() => {
    const [now, usedNow] = [performance.now(), threadProcessorMs()];
    const wallMs = Math.max(0, now - looked - everyMs);
    longest = longer(longest, { wallMs, cpuMs: Math.min(wallMs, usedNow - used) });
    [looked, used] = [now, usedNow];
  }, everyMs).unref();
  return () => {
    const told = longest;
    longest = none;
    return told;
  };
}
