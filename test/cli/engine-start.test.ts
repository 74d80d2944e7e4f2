import { describe, expect, it } from 'vitest';
import { answer, faults } from '../support/faults.js';
import { start as startCommand } from '../../src/cli/commands/start.js';
import { startFaultyProxy, type Fault, type Request } from '../support/faulty-proxy.js';
import { couchUrl } from '../support/couch.js';
import { openProject } from './database.js';
import { tws } from './executable.js';
import { begin, flow, task, type Running } from './terminal.js';

const refused = answer(401, JSON.stringify({ error: 'unauthorized', reason: 'Not now.' }));
const missing = answer(404, JSON.stringify({ error: 'not_found', reason: 'missing' }));
const broken = answer(500, JSON.stringify({ error: 'unknown_error', reason: 'badarg' }));

/**
 * A project whose database is reached through a proxy. `begin` starts an engine there in this process;
 * `beginProcess` one in a process of its own, which a rejection that nobody handles ends.
 */
async function behindProxy() {
  const proxy = await startFaultyProxy(new URL(couchUrl()).origin);
  const space = await openProject();
  const env = { ...space.env, COUCH_URL: proxy.url };
  await space.put({ _id: 't', ...task('echo') }, { _id: 'f', ...flow('f', ['echo']) });
  const http = '127.0.0.1:0';
  const call = { cwd: space.root, env };
  return {
    ...{ proxy, space },
    begin: () => begin(startCommand, { ...call, flags: { http }, settings: { http } }),
    beginProcess: () => {
      const engine = tws(['start', '--http', http], call);
      return { ...engine, stop: () => engine.kill('SIGTERM') };
    },
  };
}
type Start = Awaited<ReturnType<typeof behindProxy>>;
type Began = Running | ReturnType<Start['beginProcess']>;

/** Every request that comes for the first time; without its query, which may hold a time. */
function firstOnes(): (request: Request) => boolean {
  const seen = new Set<string>();
  return ({ method, path }) => {
    const key = `${method} ${path.replace(/\?.*/, '')}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  };
}

/** Of what another one picks the n-th, from 1. */
function nthOf(isIt: (request: Request) => boolean, n: number): (request: Request) => boolean {
  let count = 0;
  return (request) => isIt(request) && (count += 1) === n;
}

/** Everything from the first request on that is as wanted. */
function onceAt(isIt: (request: Request) => boolean): (request: Request) => boolean {
  let begun = false;
  return (request) => (begun ||= isIt(request));
}

/** Everything from the n-th request on. */
function fromThe(n: number): (request: Request) => boolean {
  let count = 0;
  return () => (count += 1) >= n;
}

/** How an engine started: it follows the feed, runs a job and ends when it is told to; or it ended. */
async function outcome(engine: Began, { space }: Start): Promise<string> {
  const ended = engine.ended.then((status) => `ended with ${status}: ${engine.err()}`);
  const how = await Promise.race([engine.prints(/follows/).then(() => 'runs', String), ended]);
  if (how !== 'runs') return how;
  await space.put({ _id: 'j', type: 'job', flow: 'f' });
  await space.ended('j');
  engine.stop();
  return `runs, then ends with ${await engine.ended}`;
}

/** Each request that meets one takes as long as a request may. */
const waits: readonly Fault['kind'][] = ['swallow', 'mute', 'stall'];
/** As many first requests as a start makes until it follows the feed. */
const mostRequests = 18;
/** Each start is an engine: a run takes a third of them, drawn by its seed (`TWS_SIMULATE=2`: all of them). */
const turns = 3;
const { TWS_SIMULATE: times = '1', TWS_SIMULATE_SEED: seed = '1' } = process.env;
const isDrawn = (n: number): boolean => Number(times) > 1 || (n + Number(seed)) % turns === 0;

const good = 'runs, then ends with 0';

/** Against hanging only: many processes start at once, ms. */
const longestMs = 300_000;
const poll = { timeout: longestMs };
const until = (isSo: () => boolean) => expect.poll(isSo, poll).toBe(true);

/** Does it for each title at once; most of the time all wait. */
async function each(
  cases: readonly (readonly [title: string, run: () => Promise<string>])[],
): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries(
    await Promise.all(cases.map(async ([title, run]) => [title, await run()] as const)),
  );
}

const sameFor = (cases: readonly (readonly [string, ...unknown[]])[], end: string) =>
  Object.fromEntries(cases.map(([title]) => [title, end]));

describe('an engine that starts while its database fails', () => {
  it(
    'at the first try of each request comes up all the same',
    async () => {
      const wanted = faults.filter(([, { kind }]) => !waits.includes(kind));
      const starts = wanted.map(([title, fault]) => {
        const run = async (): Promise<string> => {
          const start = await behindProxy();
          start.proxy.begin(fault, firstOnes());
          // Half of an answer has left a rejection behind that nobody handled.
          const isOwn = fault.kind === 'half_close';
          return outcome(isOwn ? start.beginProcess() : start.begin(), start);
        };
        return [title, run] as const;
      });
      expect(await each(starts)).toEqual(sameFor(wanted, good));
    },
    longestMs,
  );

  it(
    'at the first try of any one request, without an answer, comes up all the same',
    async () => {
      const silent = faults.filter(([, { kind }]) => waits.includes(kind));
      const all = silent.flatMap(([title, fault]) =>
        Array.from({ length: mostRequests }, (_, i) => {
          return [`request ${i + 1} ${title}`, fault, i + 1] as const;
        }),
      );
      const cases = all.filter((_case, n) => isDrawn(n));
      const starts = cases.map(([title, fault, n]) => {
        const run = async (): Promise<string> => {
          const start = await behindProxy();
          start.proxy.begin(fault, nthOf(firstOnes(), n));
          const engine = start.begin();
          if (fault.kind === 'stall') {
            await Promise.race([engine.prints(/follows/), until(() => start.proxy.met() > 0)]);
            start.proxy.heal();
          }
          return outcome(engine, start);
        };
        return [title, run] as const;
      });
      expect(await each(starts)).toEqual(sameFor(cases, good));
    },
    longestMs,
  );

  it(
    'from any request of its start on comes up when the database is back',
    async () => {
      const positions = [3, 5, 8, 11, 14, 17, 20].map((n) => [`request ${n}`, n] as const);
      const starts = positions.map(([title, n]) => {
        const run = async (): Promise<string> => {
          const start = await behindProxy();
          start.proxy.begin(broken, fromThe(n));
          const engine = start.begin();
          const isUp = engine.prints(/follows/).then(() => true, String);
          let up: unknown = false;
          void isUp.then((end) => (up = end));
          // The last positions are beyond the start.
          await until(() => up !== false || start.proxy.met() > 1);
          start.proxy.heal();
          return outcome(engine, start);
        };
        return [title, run] as const;
      });
      expect(await each(starts)).toEqual(sameFor(positions, good));
    },
    longestMs,
  );

  it.each([
    ['refuses a password that it has accepted', refused, /refuses the name or password/],
    ['has no views, since their index is rebuilt', missing, /has no view/],
  ])('because it %s waits for it, and says so once', async (_title, fault, said) => {
    const start = await behindProxy();
    start.proxy.begin(
      fault,
      onceAt(({ path }) => path.includes('/_view/')),
    );
    const engine = start.begin();
    await engine.prints(said);
    start.proxy.heal();
    expect(await outcome(engine, start)).toBe(good);
    const lines = engine.err().split('\n');
    expect(lines.filter((line) => said.test(line))).toHaveLength(1);
  });
});

describe('an engine that waits for its database', () => {
  it(
    'ends at once when it is told to, wherever in its start it waits',
    async () => {
      const places: readonly (readonly [string, (request: Request) => boolean])[] = [
        ['at the first request', () => true],
        ['at the views of the definitions', onceAt(({ path }) => path.includes('/_view/tasks'))],
        ['at the documents of engines', onceAt(({ path }) => path.includes('/engine%3A'))],
        ['at the document of its own', onceAt(({ path }) => path.endsWith('/_bulk_docs'))],
        ['at the scan', onceAt(({ path }) => path.includes('/_view/engines'))],
      ];
      const silent: Fault = { kind: 'swallow' };
      const cases = places.flatMap(([place, isMet]) => [
        [`${place}, no answer`, silent, isMet] as const,
        [`${place}, answered with 500`, broken, isMet] as const,
      ]);
      const starts = cases.map(([title, fault, isMet]) => {
        const run = async (): Promise<string> => {
          const start = await behindProxy();
          start.proxy.begin(fault, isMet);
          const engine = start.begin();
          await until(() => start.proxy.met() > 0);
          engine.stop();
          return `ended with ${await engine.ended}`;
        };
        return [title, run] as const;
      });
      expect(await each(starts)).toEqual(sameFor(cases, 'ended with 0'));
    },
    longestMs,
  );

  it('ends with the sentence about it when the first answer refuses the password', async () => {
    const start = await behindProxy();
    start.proxy.begin(refused);
    const engine = start.beginProcess();
    expect(await engine.ended).toBe(77);
    expect(engine.err()).toContain('refuses the name or password');
  });
});
