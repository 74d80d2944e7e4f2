import { describe, expect, it } from 'vitest';
import { answer, faults } from '../support/faults.js';
import { startFaultyProxy, type Fault, type Request } from '../support/faulty-proxy.js';
import { couchUrl } from '../support/couch.js';
import { openProject } from './database.js';
import { tws, type Process } from './executable.js';
import { flow, task } from './terminal.js';

const refused = answer(401, JSON.stringify({ error: 'unauthorized', reason: 'Not now.' }));
const missing = answer(404, JSON.stringify({ error: 'not_found', reason: 'missing' }));
const broken = answer(500, JSON.stringify({ error: 'unknown_error', reason: 'badarg' }));

/** A project whose database is reached through a proxy; `begin` starts an engine there. */
async function behindProxy() {
  const proxy = await startFaultyProxy(new URL(couchUrl()).origin);
  const space = await openProject();
  const env = { ...space.env, COUCH_URL: proxy.url };
  await space.put({ _id: 't', ...task('echo') }, { _id: 'f', ...flow('f', ['echo']) });
  const begin = (): Process => tws(['start', '--http', '127.0.0.1:0'], { cwd: space.root, env });
  return { proxy, space, begin };
}
type Start = Awaited<ReturnType<typeof behindProxy>>;

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
async function outcome(engine: Process, { space }: Start): Promise<string> {
  const ended = engine.ended.then((status) => `ended with ${status}: ${engine.err()}`);
  const how = await Promise.race([engine.prints(/follows/).then(() => 'runs', String), ended]);
  if (how !== 'runs') return how;
  await space.put({ _id: 'j', type: 'job', flow: 'f' });
  await space.ended('j');
  engine.kill('SIGTERM');
  return `runs, then ends with ${await engine.ended}`;
}

const good = 'runs, then ends with 0';

/** Against hanging only: many processes start at once, ms. */
const longestMs = 300_000;
const poll = { timeout: longestMs };

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
  it.each([
    ['without an answer', (fault: Fault) => fault.kind !== 'answer'],
    ['with an answer', (fault: Fault) => fault.kind === 'answer'],
  ])(
    'at the first try of each request, %s, comes up all the same',
    async (_, isWanted) => {
      const wanted = faults.filter(([, fault]) => isWanted(fault));
      const starts = wanted.map(([title, fault]) => {
        const run = async (): Promise<string> => {
          const start = await behindProxy();
          start.proxy.begin(fault, firstOnes());
          if (fault.kind !== 'stall') return outcome(start.begin(), start);
          const healing = setInterval(() => {
            start.proxy.heal();
            start.proxy.begin(fault, () => false);
          }, 100);
          return outcome(start.begin(), start).finally(() => clearInterval(healing));
        };
        return [title, run] as const;
      });
      expect(await each(starts)).toEqual(sameFor(wanted, good));
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
          await expect.poll(() => up !== false || start.proxy.met() > 1, poll).toBe(true);
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
          await expect.poll(start.proxy.met, poll).toBeGreaterThan(0);
          engine.kill('SIGTERM');
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
    const engine = start.begin();
    expect(await engine.ended).toBe(77);
    expect(engine.err()).toContain('refuses the name or password');
  });
});
