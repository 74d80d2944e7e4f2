import { ackRoute, fetchRoute, nackRoute } from '../../../src/http/ojs/routes/workers.js';
import { makeWorkflowRoute } from '../../../src/http/ojs/routes/workflows.js';
import type { WorkflowNode } from '../../../src/http/ojs/workflow/schemas.js';
import type { Route } from '../../../src/http/route.js';
import { TwsError } from '../../../src/errors.js';
import { isFinalState } from '../../../src/model/job.js';
import type { StoredDocument } from '../../../src/model/document.js';
import type { Death } from './deaths.js';
import { ConnectionLost, openHouse, type Died, type House } from './house.js';
import { watchLeases } from './leases.js';
import { sent, type Told } from './orders.js';

/** What happened in one run. */
export type Run = {
  /** The numbers of jobs in the order in which they were done. */
  readonly done: readonly { readonly number: number; readonly by: 'worker' | 'engine' }[];
  /** All jobs that are in the database in the end. */
  readonly jobs: readonly StoredDocument[];
  /** What was wrong already while it ran. */
  readonly wrong: readonly string[];
  /** How many writes there were, and who died. */
  readonly writes: number;
  readonly died: Died;
};

type Done = { readonly number: number; readonly by: 'worker' | 'engine' };
type Fetched = { readonly id: string; readonly attempt: number; readonly args: readonly Told[] };

/** So long the worker may take for a job, ms. */
const leaseMs = 20_000;
/** So long the worker waits where there is nothing to do, ms. */
const restMs = 5_000;
/** So often it looks for work in one run. */
const mostLooks = 500;
/** So long nothing more may happen in the end, ms: a lease of an engine, and the sweep after it. */
const quietMs = 40_000;

/** Runs one workflow after the other, each to its end, while whoever makes one of its writes dies. */
export type Runs = {
  readonly run: (order: WorkflowNode, plan: readonly Death[]) => Promise<Run>;
  /** Has time pass; answers what happened though every workflow had ended. */
  readonly late: () => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

export async function openRuns(): Promise<Runs> {
  const house = await openHouse();
  return {
    run: (order, plan) => runOne(house, order, plan),
    late: async () => {
      const late: string[] = [];
      house.deaths.plan(
        [],
        (doc) => void (doc['type'] === 'job' && late.push(`${doc._id} changed.`)),
      );
      house.onEngine(({ number }) => late.push(`An engine did job ${number}.`));
      await house.pass(quietMs);
      return [...late, ...(await fetchWork(house)).map(({ id }) => `${id} is handed out.`)];
    },
    close: house.close,
  };
}

async function runOne(house: House, order: WorkflowNode, plan: readonly Death[]): Promise<Run> {
  const done: Done[] = [];
  const wrong: string[] = [];
  const leases = watchLeases(house.now);
  const before = house.died();
  /** The jobs that were stored. */
  const ids = new Set<string>();
  const jobsNow = async () => [...(await house.store.getMany([...ids])).values()];
  const count = house.deaths.plan(plan, (doc) => {
    if (doc['type'] !== 'job') return;
    ids.add(doc._id);
    leases.stored(doc);
  });
  house.onEngine(({ number }) => done.push({ number, by: 'engine' }));
  await makeWorkflow(house, sent(order), jobsNow);
  for (let looks = 0; ; looks += 1) {
    const fetched = await fetchWork(house);
    for (const one of fetched) await doWork(house, one, { done, wrong });
    if (fetched.length > 0) continue;
    if ((await jobsNow()).every(({ state }) => isFinalState(state))) break;
    if (looks < mostLooks) await house.pass(restMs);
    else {
      wrong.push('It does not end.');
      break;
    }
  }
  const { engine, server } = house.died();
  return {
    ...{ done, jobs: await jobsNow(), wrong: [...wrong, ...leases.found], writes: count() },
    died: { engine: engine - before.engine, server: server - before.server },
  };
}

/** Whoever hears nothing looks whether the workflow is there. */
async function makeWorkflow(
  house: House,
  body: WorkflowNode,
  jobsNow: () => Promise<readonly unknown[]>,
): Promise<void> {
  for (;;) {
    const answer = await unlessLost(house.ask(makeWorkflowRoute, { body }));
    if (answer !== undefined || (await jobsNow()).length > 0) return;
  }
}

async function fetchWork(house: House): Promise<readonly Fetched[]> {
  const wish = { count: 2, wait_ms: 0, visibility_timeout_ms: leaseMs };
  const body = { queues: ['default'], worker_id: 'w', ...wish };
  const answer = await unlessLost(house.ask(fetchRoute, { body }));
  return ((answer?.body ?? { jobs: [] }) as { readonly jobs: readonly Fetched[] }).jobs;
}

/** Does a job once, and says so until somebody hears it. */
async function doWork(
  house: House,
  { id, args, attempt }: Fetched,
  { done, wrong }: { readonly done: Done[]; readonly wrong: string[] },
): Promise<void> {
  const [told] = args;
  if (told === undefined) return void wrong.push(`${id} is handed out without what it is about.`);
  const { number, fails, way } = told;
  const isAgain = way === 'again' && done.every((one) => one.number !== number);
  done.push({ number, by: 'worker' });
  const say = (route: Route, more: object) =>
    house.ask(route, { body: { job_id: id, worker_id: 'w', ...more } });
  const error = isAgain
    ? { type: 'Busy', message: 'Later.' }
    : { type: 'Broken', message: 'No.', retryable: false };
  const result = way === 'long' ? `${number} ${'x'.repeat(17_000)}` : number;
  for (let tries = 1; ; tries += 1) {
    try {
      const said = fails || isAgain ? say(nackRoute, { error }) : say(ackRoute, { result });
      if ((await unlessLost(said)) !== undefined) return;
    } catch (problem) {
      if (!(problem instanceof TwsError) || problem.code !== 'ojs_not_held') throw problem;
      // An answer that was lost may have been heard.
      if (tries > 1) return;
      return void wrong.push(`The answer to ${id} (${number}, attempt ${attempt}) is not taken.`);
    }
  }
}

async function unlessLost<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ConnectionLost) return undefined;
    throw error;
  }
}
