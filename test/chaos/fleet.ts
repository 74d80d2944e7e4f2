import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Connection } from '../../src/store/connection.js';
import { openProxy, type Proxy } from './proxy.js';
import type { Harm, HarmKind, Life } from './verdict.js';
import { moment } from './witness.js';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'tws.js');
const wrongClock = pathToFileURL(join(import.meta.dirname, 'wrong-clock.js')).href;

/** One engine process after the other sits here; the way to the database stays the same. */
export type Seat = { readonly number: number; readonly proxy: Proxy; engine?: EngineProcess };

export type EngineProcess = Life & {
  readonly child: ChildProcess;
  readonly harms: Harm[];
  readonly ended: Promise<void>;
  /** Harm that is being done for a while: nobody else touches it then. */
  busy: boolean;
  /** It follows the feed. */
  follows: boolean;
};

export type FleetOptions = {
  readonly seats: number;
  readonly folder: string;
  readonly connection: Connection;
  /** Where the engines connect to, in turn. */
  readonly nodes: readonly URL[];
  readonly chance: () => number;
};

export type Fleet = {
  readonly seats: readonly Seat[];
  /** Every process there ever was. */
  readonly lives: readonly EngineProcess[];
  /** Starts an engine on a seat that is free. */
  readonly start: (seat: Seat) => EngineProcess;
  /** Ends all in order. */
  readonly drain: (patience: Patience) => Promise<void>;
  /** Ends everything at once, whatever state it is in. */
  readonly close: () => Promise<void>;
};

/** Engines as processes, each behind a proxy of its own. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { nodes, seats: count } = options;
  const [first = new URL(options.connection.url)] = nodes;
  const proxies = await Promise.all(
    Array.from({ length: count }, (_, i) => openProxy(nodes[i % nodes.length] ?? first)),
  );
  const seats: Seat[] = proxies.map((proxy, number) => ({ number, proxy }));
  const lives: EngineProcess[] = [];
  const running = (): EngineProcess[] => lives.filter(isRunning);
  return {
    seats,
    lives,
    start: (seat) => {
      const engine = startEngine(seat, lives.length, options);
      lives.push(engine);
      seat.engine = engine;
      return engine;
    },
    drain: async (patience) => {
      for (const engine of running()) {
        end(engine, 'term');
        engine.child.kill('SIGTERM');
      }
      await Promise.all(running().map((engine) => gone(engine, patience)));
    },
    close: async () => {
      for (const { child } of running()) child.kill('SIGKILL');
      await Promise.all(lives.map(({ ended }) => ended));
      await Promise.all(proxies.map((proxy) => proxy.close()));
    },
  };
}

export type Patience = { readonly longestMs: number; readonly signal: AbortSignal };

/** Waits for the end of an engine; when it takes too long, it is killed and has `hung`. */
export async function gone(engine: EngineProcess, patience: Patience): Promise<void> {
  const { longestMs, signal } = patience;
  const kill = (): void => void engine.child.kill('SIGKILL');
  const late = setTimeout(() => {
    engine.hung = true;
    kill();
  }, longestMs);
  signal.addEventListener('abort', kill);
  if (signal.aborted) kill();
  await engine.ended;
  signal.removeEventListener('abort', kill);
  clearTimeout(late);
}

export function isRunning({ child }: EngineProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** Notes a harm that lasts until the answer is called. */
export function harm(engine: EngineProcess, kind: HarmKind): () => void {
  const noted: Harm = { kind, from: moment(), to: Infinity };
  engine.harms.push(noted);
  return () => {
    noted.to = moment();
  };
}

/** Notes a harm of which the engine does not recover. */
export function end(engine: EngineProcess, kind: HarmKind): void {
  harm(engine, kind);
}

function startEngine(seat: Seat, number: number, options: FleetOptions): EngineProcess {
  const { folder, connection, chance } = options;
  const offMs = wrongBy(chance);
  // Every other seat keeps its engine's name, so that a new engine recovers what was its own.
  const named = seat.number % 2 === 0 ? ['--name', `seat-${seat.number}`] : [];
  const child = spawn(process.execPath, [bin, 'start', '--slots', '4', ...named], {
    cwd: folder,
    env: {
      ...process.env,
      COUCH_URL: withCredentials(seat.proxy.url, connection),
      COUCH_DATABASE: connection.database,
      CHAOS_CLOCK_MS: String(offMs),
      NODE_OPTIONS: `--import=${wrongClock}`,
    },
    // By the channel it notices when this process is gone.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const log = createWriteStream(join(folder, `engine-${number}.log`));
  const listen = (text: Buffer): void => {
    log.write(text);
    if (text.includes(' follows ')) engine.follows = true;
  };
  child.stdout?.on('data', listen);
  child.stderr?.on('data', listen);
  const engine: EngineProcess = {
    number,
    pid: child.pid ?? 0,
    from: moment(),
    to: Infinity,
    offMs,
    harms: [],
    child,
    busy: false,
    follows: false,
    ended: new Promise((resolve) =>
      child.once('close', (code, signal) => {
        engine.to = moment();
        engine.status = code ?? String(signal);
        if (seat.engine === engine) delete seat.engine;
        log.end(resolve);
      }),
    ),
  };
  return engine;
}

/** One clock in two is right; the others are off by 1 to 10 minutes, either way. */
function wrongBy(chance: () => number): number {
  const minutes = 1 + Math.floor(chance() * 10);
  const drawn = chance();
  if (drawn < 0.5) return 0;
  return (drawn < 0.75 ? 1 : -1) * minutes * 60_000;
}

function withCredentials(url: string, { user = '', password = '' }: Connection): string {
  const full = new URL(url);
  full.username = encodeURIComponent(user);
  full.password = encodeURIComponent(password);
  return full.href.replace(/\/$/, '');
}
