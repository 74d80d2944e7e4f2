import { setTimeout as sleep } from 'node:timers/promises';
import { between, oneOf, shuffled } from './chance.js';
import type { Database } from './database.js';
import { end, gone, harm, isRunning, type EngineProcess, type Fleet, type Seat } from './fleet.js';

/** `crash`: the database's server is ended by `kill -9`; `stall`: a node of the cluster stands still for
 * a while; else the names are those of harms. */
export const deeds = [
  'kill',
  'term',
  'force',
  'stop',
  'silence',
  'cut',
  'cut-request',
  'cut-answer',
  'outage',
  'crash',
  'stall',
] as const;
export type Deed = (typeof deeds)[number];

/** How many of each go with so many kills. */
const shares: Readonly<Record<Exclude<Deed, 'kill' | 'stall'>, number>> = {
  term: 0.2,
  force: 0.1,
  stop: 0.2,
  silence: 0.16,
  cut: 0.2,
  'cut-request': 0.3,
  'cut-answer': 0.3,
  outage: 0.1,
  crash: 0.06,
};

/**
 * What will be done, in a random order: `kills` kills, at least one of everything else, and as many
 * stalls of nodes where there are several.
 */
export function planDeeds(kills: number, stalls: number, chance: () => number): readonly Deed[] {
  const others = Object.entries(shares) as [Exclude<Deed, 'kill' | 'stall'>, number][];
  const list: Deed[] = Array.from({ length: kills }, () => 'kill');
  for (let i = 0; i < stalls; i += 1) list.push('stall');
  for (const [deed, share] of others) {
    for (let i = 0; i < Math.max(1, Math.round(share * kills)); i += 1) list.push(deed);
  }
  return shuffled(list, chance);
}

export type Mischief = {
  /**
   * Does it, or begins it when it takes a while; false: not now, there is no engine to do it to.
   */
  readonly do: (deed: Deed) => boolean;
  /** Resolves when everything begun is over and every seat has an engine again. */
  readonly over: () => Promise<void>;
  readonly done: ReadonlyMap<Deed, number>;
};

export type MischiefOptions = {
  readonly fleet: Fleet;
  readonly database: Database;
  readonly leaseMs: number;
  /** The processes of the nodes of the cluster, which may be stopped for a while. */
  readonly pids: readonly number[];
  /** Pids of engines that are spared for now. */
  readonly spared: () => ReadonlySet<number>;
  readonly chance: () => number;
  /** Nothing lasting goes on once it is aborted. */
  readonly signal: AbortSignal;
};

type Taken = Seat & { engine: EngineProcess };

/** Does to engines and database what happens to them in real life, only more often. */
export function createMischief(options: MischiefOptions): Mischief {
  const { fleet, database, leaseMs, pids, spared, chance, signal } = options;
  let isStalled = false;
  const lasting = new Set<Promise<void>>();
  const done = new Map<Deed, number>();
  /** What could not be done as planned: then the run says nothing. */
  const broken: unknown[] = [];
  let away = false;

  const last = (task: () => Promise<void>): void => {
    const running = task()
      .catch((error: unknown) => broken.push(error))
      .then(() => void lasting.delete(running));
    lasting.add(running);
  };
  const pause = (least: number, most: number): Promise<void> =>
    sleep(between(least, most, chance), undefined, { signal }).catch(() => undefined);
  /** Mostly one that is at work; now and then one that just begins. */
  const victim = (): Taken | undefined => {
    const beginners = chance() < 0.1;
    const fragile = spared();
    const free = fleet.seats.filter((seat): seat is Taken => {
      const { engine } = seat;
      if (engine === undefined || !isRunning(engine)) return false;
      return !engine.busy && !fragile.has(engine.pid) && (engine.follows || beginners);
    });
    return free.length === 0 ? undefined : oneOf(free, chance);
  };
  /** Another engine sits down when the last one is gone. */
  const replace = async (seat: Seat, engine: EngineProcess): Promise<void> => {
    engine.busy = true;
    await gone(engine, { longestMs: 60_000, signal });
    seat.proxy.heal();
    await pause(0, 1_000);
    if (!signal.aborted) fleet.start(seat);
  };
  const endBy = (kind: 'kill' | 'term' | 'force'): boolean => {
    const seat = victim();
    if (seat === undefined) return false;
    const { engine } = seat;
    end(engine, kind);
    engine.child.kill(kind === 'kill' ? 'SIGKILL' : 'SIGTERM');
    last(async () => {
      const replaced = replace(seat, engine);
      if (kind === 'force') {
        await pause(5, 100);
        engine.child.kill('SIGTERM');
      }
      await replaced;
    });
    return true;
  };
  /** Longer than a lease: when it is over, others have what the engine still believes to own. */
  const longer = (): Promise<void> => pause(1.3 * leaseMs, 2.5 * leaseMs);
  const holdUp = (kind: 'stop' | 'silence'): boolean => {
    const seat = victim();
    if (seat === undefined) return false;
    const { engine, proxy } = seat;
    engine.busy = true;
    const over = harm(engine, kind);
    if (kind === 'stop') engine.child.kill('SIGSTOP');
    else proxy.silence();
    last(async () => {
      await longer();
      engine.child.kill('SIGCONT');
      proxy.heal();
      over();
      engine.busy = false;
    });
    return true;
  };
  const cutBy = (kind: 'cut' | 'cut-request' | 'cut-answer'): boolean => {
    const seat = victim();
    if (seat === undefined) return false;
    const { engine, proxy } = seat;
    if (kind === 'cut') {
      proxy.cut();
      harm(engine, kind)();
    } else {
      proxy.cutNextWrite(kind === 'cut-request' ? 'request' : 'answer', () => harm(engine, kind)());
    }
    return true;
  };
  const takeAway = (how: 'ordered' | 'killed'): boolean => {
    if (away) return false;
    away = true;
    const over = fleet.lives.filter(isRunning).map((engine) => harm(engine, 'outage'));
    const { server } = database;
    last(async () => {
      if (server === undefined) fleet.seats.forEach(({ proxy }) => proxy.refuse());
      else await server.stop(how);
      await pause(200, 3_000);
      if (server === undefined) fleet.seats.forEach(({ proxy }) => proxy.heal());
      else await server.start();
      over.forEach((tell) => tell());
      away = false;
    });
    return true;
  };
  /** SIGSTOP and SIGCONT, or silence on the way to the node where its process is not ours. */
  const stall = (): boolean => {
    if (isStalled || away) return false;
    isStalled = true;
    const node = Math.floor(chance() * database.nodes.length);
    const pid = pids[node];
    const ways = fleet.seats.filter((_, i) => i % database.nodes.length === node);
    const over = fleet.lives.filter(isRunning).map((engine) => harm(engine, 'outage'));
    if (pid === undefined) ways.forEach(({ proxy }) => proxy.silence());
    else process.kill(pid, 'SIGSTOP');
    last(async () => {
      await pause(200, 3_000);
      if (pid === undefined) ways.forEach(({ proxy }) => proxy.heal());
      else process.kill(pid, 'SIGCONT');
      over.forEach((tell) => tell());
      isStalled = false;
    });
    return true;
  };
  const act = (deed: Deed): boolean => {
    switch (deed) {
      case 'kill':
      case 'term':
      case 'force':
        return endBy(deed);
      case 'stop':
      case 'silence':
        return holdUp(deed);
      case 'cut':
      case 'cut-request':
      case 'cut-answer':
        return cutBy(deed);
      case 'outage':
        return takeAway('ordered');
      case 'crash':
        return takeAway('killed');
      case 'stall':
        return stall();
    }
  };
  return {
    done,
    do: (deed) => {
      if (broken.length > 0) throw broken[0];
      const could = act(deed);
      if (could) done.set(deed, (done.get(deed) ?? 0) + 1);
      return could;
    },
    over: async () => {
      while (lasting.size > 0) await Promise.all(lasting);
      if (broken.length > 0) throw broken[0];
    },
  };
}
