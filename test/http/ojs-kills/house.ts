import { createClient } from '../../../src/client.js';
import { createIdentify } from '../../../src/http/access/identify.js';
import { localPrincipal } from '../../../src/http/access/principal.js';
import type { Api } from '../../../src/http/api.js';
import { createJobHub } from '../../../src/http/feed/hub.js';
import type { Route, RouteAnswer } from '../../../src/http/route.js';
import type { Store } from '../../../src/store/store.js';
import { createTestGround, type TestGround } from '../../../src/testing/test-engine.js';
import { PluginError } from '../../../src/plugin/errors.js';
import { createDeaths, type Deaths } from './deaths.js';
import { documents, type Told } from './orders.js';

/** A request whose answer never came: its server died. */
export class ConnectionLost extends Error {}

/** An engine and a server on one database, of which a new one is started whenever one died. */
export type House = {
  readonly deaths: Deaths;
  /** Epoch ms. */
  readonly now: () => number;
  readonly store: Store;
  /** Asks the server; time passes while it waits. @throws ConnectionLost, and what the route throws */
  readonly ask: (route: Route, parts: { body?: unknown; params?: unknown }) => Promise<RouteAnswer>;
  /** Has so much time pass, ms. */
  readonly pass: (ms: number) => Promise<void>;
  /** How many of each died. */
  readonly died: () => Died;
  /** Has the function called when an engine does a job itself. */
  readonly onEngine: (listener: (told: Told) => void) => void;
  readonly close: () => Promise<void>;
};

export type Died = { readonly engine: number; readonly server: number };

export async function openHouse(): Promise<House> {
  const deaths = createDeaths();
  const died = { engine: 0, server: 0 };
  let onEngine: (told: Told) => void = ignore;
  let isEngineDead = false;
  const ground = await createTestGround(
    {
      documents,
      plugins: {
        done: ({ params }) => {
          const told = params as Told;
          onEngine(told);
          if (told.fails) throw new PluginError('No.', { name: 'Broken' });
          return told.number;
        },
      },
    },
    (store) => deaths.mortal(store, () => void (isEngineDead = true)),
  );
  const { engine, clock } = ground;
  let server = openServer(ground, deaths);
  const ended: Promise<void>[] = [];
  const replaceDead = async (): Promise<void> => {
    while (isEngineDead) {
      isEngineDead = false;
      died.engine += 1;
      await engine.kill();
      await engine.start();
    }
    if (!server.isDead()) return;
    died.server += 1;
    ended.push(server.close());
    server = openServer(ground, deaths);
  };
  const driven = async <T>(asked: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = asked.finally(() => (isOver = true));
    over.catch(() => undefined);
    for (let idle = 0; ;) {
      const goesOn = await clock.run(() => isOver || isEngineDead);
      if (isOver) break;
      // Code that is loaded when it is first needed takes no time of the clock.
      if (!goesOn) await loading();
      if (!goesOn && (idle += 1) > mostIdle) throw new Error('Nothing happens any more.');
      await replaceDead();
    }
    await replaceDead();
    return over;
  };
  const store = ground.open();
  return {
    ...{ deaths, store, now: clock.now },
    died: () => ({ ...died }),
    onEngine: (listener) => void (onEngine = listener),
    ask: (route, parts) => driven(server.ask(route, parts)),
    pass: (ms) => driven(clock.sleep(ms)),
    close: async () => {
      await Promise.all([...ended, server.close()]);
      await engine.close();
    },
  };
}

/** So often it is looked whether code is loaded, ms apart. */
const mostIdle = 30_000;
const loading = (): Promise<void> => new Promise((next) => setTimeout(next, 1));

const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };
function ignore(): void {}

/** What of the API's process stores, fetches and answers: its routes, without sockets. */
function openServer({ clock, open }: TestGround, deaths: Deaths) {
  let isDead = false;
  let lose: (reason: Error) => void = ignore;
  const lost = new Promise<never>((_resolve, reject) => {
    lose = reject;
  });
  lost.catch(ignore);
  const ending = new AbortController();
  const store: Store = deaths.mortal(open(), () => {
    isDead = true;
    lose(new ConnectionLost('The server died.'));
  });
  const client = createClient({ store });
  const { now } = clock;
  const hub = createJobHub({ client, lingerMs: 60_000, remembered: 100, onBroken: ignore });
  const api = {
    ...{ client, hub, now, log: quiet, testDirectives: false, scriptOwners: [] },
    identify: createIdentify({ client, open: true, keepMs: 0, now }),
    waits: { most: 500, open: 0 },
  } as unknown as Api;
  const call = { api, query: {}, headers: {}, principal: localPrincipal, address: '' };
  return {
    isDead: () => isDead,
    ask: async (route: Route, { body, params = {} }: { body?: unknown; params?: unknown }) => {
      const run = route.run({ ...call, params, body, signal: ending.signal });
      run.catch(ignore);
      return (await Promise.race([run, lost])) as RouteAnswer;
    },
    close: async () => {
      ending.abort();
      await hub.close();
      await store.close();
    },
  };
}
