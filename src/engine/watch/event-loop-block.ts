import type { MainThread } from './main-thread.js';
import type { AttributedCall } from './watchdog-messages.js';

/** How often `look` is to be called, ms. */
export const lookMs = 250;
/** Shorter blocks are reported by the main thread itself, ms. */
const shortestMs = 1_000;
/** The main thread ends an attempt in time when it can, ms. */
const lateMs = 500;
/** How often at most a main thread that computes is asked what it does. */
const mostTries = 16;

/** What the watchdog sees and does. */
export type BlockDetectorParts = {
  /** Counts up as long as the event loop goes on. */
  readonly beat: () => number;
  /** Epoch ms. */
  readonly now: () => number;
  readonly leaseMs: number;
  /** Whether the main thread would go on, but has no processor: that is nobody's doing. */
  readonly isStarved: () => boolean;
  /** Whether a debugger may have stopped the main thread. */
  readonly isDebugged: () => boolean;
  /** Asks the main thread what it does. */
  readonly ask: () => Promise<MainThread>;
  /** Whether the main thread is running, or ready to, as far as the system says. */
  readonly isRunning: () => boolean;
  /** The calls of plugins in the main thread. */
  readonly calls: () => readonly AttributedCall[];
  /** The job about which the main thread decides, if it does. */
  readonly decided: () => string | undefined;
  /** Whether the main thread has computed as long as a decision that is to blame. */
  readonly hasComputed: () => boolean;
  readonly say: (message: string, attribution?: AttributedCall) => void;
  /** The event loop goes on. */
  readonly onBeat: () => void;
  /** Records the block in the job, gives the lease up and ends the process. */
  readonly end: (stoodMs: number, found: BlockFinding) => Promise<void>;
};

/** What was found out about the present block. */
export type BlockFinding = {
  readonly names: string;
  /** Whether the main thread was found to run it; else it was only there. */
  readonly isSure: boolean;
  readonly attribution?: AttributedCall;
  /** The job about which the engine decides. */
  readonly decided?: string;
  /** When it has lasted too long, epoch ms. */
  readonly endsAt: number;
};

/**
 * Finds out who holds up the event loop, and ends the process when that lasts too long.
 *
 * E7 What blocks the loop is named in the log, and in its job if its time is over, within 2 s of its
 *    timeout: it is asked after at most a second and one look (250 ms), and answers within half a second
 *    or not at all. This does not hold where the main thread has no processor of its own.
 */
export function createBlockDetector(parts: BlockDetectorParts): {
  readonly look: () => Promise<void>;
} {
  let last = parts.beat();
  let looks = 0;
  let tries = 0;
  let found: BlockFinding | undefined;
  let isBusy = false;
  let isDebuggerLogged = false;

  const goesOn = (since = last): boolean => parts.beat() !== since;

  /** A breakpoint looks like a block: asking the main thread would resume it. */
  const leaveToDebugger = (stoodMs: number): void => {
    if (isDebuggerLogged) return;
    isDebuggerLogged = true;
    parts.say(
      `The event loop has stood still for ${stoodMs} ms. The inspector is open: this may be a breakpoint, so plugins that block the engine are not looked for.`,
    );
  };

  const find = async (stoodMs: number): Promise<BlockFinding | undefined> => {
    const since = last;
    const asked = await parts.ask();
    if (goesOn(since)) return undefined;
    tries += 1;
    // On a busy machine JavaScript, too, may take its time to answer.
    if (!asked.isAnswering && parts.isRunning() && tries < mostTries) return undefined;
    const named = attribute(asked, parts);
    const leaseEndsAt = parts.now() + Math.max(0, parts.leaseMs - stoodMs);
    const endsAt = Math.min((named.attribution?.endsAt ?? Infinity) + lateMs, leaseEndsAt);
    parts.say(sentenceOf(named, stoodMs, asked.at), named.attribution);
    return { ...named, endsAt: named.isNobody ? Infinity : endsAt };
  };

  const react = async (stoodMs: number): Promise<void> => {
    found ??= await find(stoodMs);
    if (found === undefined || goesOn()) return;
    const isBlamed = found.decided === undefined || parts.hasComputed();
    if (isBlamed && parts.now() >= found.endsAt) await parts.end(stoodMs, found);
  };

  return {
    look: async () => {
      if (goesOn()) {
        [last, looks, tries, found] = [parts.beat(), 0, 0, undefined];
        parts.onBeat();
        return;
      }
      // Counted in looks: when the whole process stands still, so does this thread.
      looks += 1;
      const stoodMs = looks * lookMs;
      if (isBusy || stoodMs < shortestMs || parts.isStarved()) return;
      if (parts.isDebugged()) return leaveToDebugger(stoodMs);
      isBusy = true;
      try {
        await react(stoodMs);
      } finally {
        isBusy = false;
      }
    },
  };
}

type Named = Omit<BlockFinding, 'endsAt'> & {
  /** No plugin and no decision is to blame: ending the process would help nobody. */
  readonly isNobody: boolean;
};

function sentenceOf({ names, isSure }: Named, stoodMs: number, at: string | undefined): string {
  const signals = isSure ? '; until it ends, SIGINT and SIGTERM end the process at once' : '';
  const where = at === undefined ? '' : ` at ${at}`;
  const verb = isSure ? 'has' : 'may have';
  return `${names} ${verb} blocked the engine for ${stoodMs} ms${where}${signals}.`;
}

function attribute({ isAnswering, attribution }: MainThread, parts: BlockDetectorParts): Named {
  // What the engine itself is doing is no plugin's doing, whichever plugins wait meanwhile.
  const decided = attribution === undefined ? parts.decided() : undefined;
  // A system call says nothing: then it may be any plugin that is present.
  const isUnknown = attribution === undefined && decided === undefined && !isAnswering;
  const present = isUnknown ? parts.calls() : [];
  const suspects = attribution === undefined ? present : [attribution];
  const [only, other] = suspects;
  return {
    names: decided === undefined ? namesOf(suspects) : `A decision about job ${decided}`,
    isSure: isAnswering,
    isNobody: suspects.length === 0 && decided === undefined,
    ...(decided === undefined ? {} : { decided }),
    ...(only === undefined || other !== undefined ? {} : { attribution: only }),
  };
}

function namesOf(suspects: readonly AttributedCall[]): string {
  if (suspects.length === 0) return 'Something that is no plugin';
  const names = suspects.map(({ plugin, about: { step, job } }) => {
    const of = job === undefined ? '' : ` (step ${String(step)} of job ${job})`;
    return `Plugin ${plugin}${of}`;
  });
  return suspects.length === 1 ? String(names[0]) : `One of these: ${names.join(', ')}`;
}
