/** Documents, or as much work as they are, in one transaction: it holds the thread. */
const MOST_WEIGHT = 500;

type Waiting = {
  readonly weight: number;
  readonly run: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** What a group of changes is made in. */
export type CommitPort = {
  /** Runs the changes as one transaction; when one throws, none of them is made. */
  readonly transact: (changes: () => void) => Promise<void>;
  /** Makes what was committed outlive a loss of power. */
  readonly sync: () => Promise<void>;
  /** Called when a group is on disk, before its callers are answered. */
  readonly stored: () => void;
  /** Called between two groups. */
  readonly pause: () => Promise<void>;
};

/**
 * Group commit: while one group is being synced, the changes that arrive are gathered for the next,
 * which costs one sync for all of them.
 *
 * B1 A change is answered when it is on disk, and in the order in which changes came.
 *
 * Changes do not throw for what a client did wrong: a change that throws takes its group with it.
 */
export type Commits = {
  /** Makes a change; `weight` counts its documents. */
  add<T>(weight: number, run: () => T): Promise<T>;
  /** Resolves when the group that is being written is on disk, or refused; undefined when none is. */
  writing(): Promise<void> | undefined;
};

export function createCommits(port: CommitPort): Commits {
  let waiting: Waiting[] = [];
  let isRunning = false;
  let writing: Promise<void> | undefined;

  const commit = async (group: readonly Waiting[]): Promise<void> => {
    const results: unknown[] = [];
    const write = async (): Promise<void> => {
      await port.transact(() => {
        for (const { run } of group) results.push(run());
      });
      await port.sync();
    };
    const written = write();
    writing = written.catch(() => undefined);
    try {
      await written;
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    } finally {
      writing = undefined;
    }
    port.stored();
    group.forEach(({ resolve }, i) => resolve(results[i]));
  };
  const run = async (): Promise<void> => {
    // Requests of one burst arrive within the same turn of the event loop.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const [group, rest] = split(waiting);
      waiting = rest;
      await commit(group);
      await port.pause().catch(() => undefined);
    }
    isRunning = false;
  };

  return {
    add: <T>(weight: number, change: () => T) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ weight, run: change, resolve: (result) => resolve(result as T), reject });
        if (isRunning) return;
        isRunning = true;
        void run();
      }),
    writing: () => writing,
  };
}

function split(waiting: readonly Waiting[]): [group: Waiting[], rest: Waiting[]] {
  let weight = 0;
  const end = waiting.findIndex((each, i) => (weight += each.weight) > MOST_WEIGHT && i > 0);
  return end === -1 ? [[...waiting], []] : [waiting.slice(0, end), waiting.slice(end)];
}
