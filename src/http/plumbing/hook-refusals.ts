import type { Client } from '../../client.js';
import { TwsError } from '../../errors.js';
import { readRefused, type RefusedDeliveries } from '../../model/hook.js';
import type { Log } from '../../log.js';

/** Counts deliveries that are refused, and writes that into their hooks. */
export type HookRefusals = {
  /** `hook`: the id of one that is stored. */
  readonly note: (hook: string, status: number) => void;
  /** Writes what is not written yet, and ends. */
  readonly end: () => Promise<void>;
};

type Parts = {
  readonly client: Pick<Client, 'get' | 'write'>;
  readonly log: Log;
  readonly now: () => number;
  /** How long refusals are gathered before they are written, ms: anybody can cause them. */
  readonly everyMs: number;
};

/** Nothing of a delivery is kept but its time and status: it may hold secrets, and anybody can send any number. */
export function createHookRefusals({ client, log, now, everyMs }: Parts): HookRefusals {
  let counted = new Map<string, RefusedDeliveries>();
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;
  const add = (hook: string, { count, at, status }: RefusedDeliveries): void => {
    const before = counted.get(hook);
    const latest = before !== undefined && before.at > at ? before : { at, status };
    const { at: time, status: last } = latest;
    counted.set(hook, { count: (before?.count ?? 0) + count, at: time, status: last });
  };
  const store = async (hook: string, some: RefusedDeliveries): Promise<void> => {
    const doc = await client.get(hook);
    if (doc?.['type'] !== 'hook') return;
    const before = readRefused(doc['refused'])?.count ?? 0;
    await client.write({ ...doc, refused: { ...some, count: before + some.count } });
  };
  const storeAll = async (): Promise<void> => {
    const all = counted;
    counted = new Map();
    for (const [hook, some] of all) {
      try {
        await store(hook, some);
      } catch (error) {
        if (!(error instanceof TwsError)) throw error;
        // Somebody stored it at the same time, or the database is away: it is written with the next ones.
        log.debug({ hook }, error.message);
        add(hook, some);
      }
    }
  };
  const later = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void storeAll()
        .catch((error: unknown) => log.error({}, String(error)))
        .then(() => {
          if (counted.size > 0 && !hasEnded) later();
        });
    }, everyMs).unref();
  };
  return {
    note: (hook, status) => {
      add(hook, { count: 1, at: now(), status });
      if (!hasEnded) later();
    },
    end: async () => {
      hasEnded = true;
      clearTimeout(timer);
      await storeAll().catch((error: unknown) => log.error({}, String(error)));
    },
  };
}
