import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WorkflowNode } from '../../src/http/ojs/workflow/schemas.js';
import { isThorough, minutes, runs } from '../support/properties.js';
import type { Death } from './ojs-kills/deaths.js';
import { judge } from './ojs-kills/judge.js';
import { job, jobs } from './ojs-kills/orders.js';
import { openRuns, type Runs } from './ojs-kills/run.js';
import { workflows } from './ojs-oracle.js';

let all: Runs;

/** Runs a workflow while these die, and judges it. Resolves with how many writes there were. */
async function judged(order: WorkflowNode, ...plan: readonly Death[]): Promise<number> {
  const run = await all.run(order, plan);
  expect(judge(order, run), `${JSON.stringify(plan)} in ${JSON.stringify(order)}`).toEqual([]);
  return run.writes;
}

const chain = (...steps: readonly WorkflowNode[]): WorkflowNode => ({ type: 'chain', steps });
const group = (...list: readonly WorkflowNode[]): WorkflowNode => ({ type: 'group', jobs: list });
const batch = (
  list: readonly WorkflowNode[],
  callbacks: WorkflowNode['callbacks'],
): WorkflowNode => ({
  ...{ type: 'batch', jobs: list, callbacks },
});
const [short, long, again, engine, flow] = [
  ...[job('short'), job('long'), job('again'), job('engine'), job('flow')],
] as const;

const few: readonly (readonly [string, WorkflowNode])[] = [
  ['chain', chain(short, long)],
  ['group', group(short, again)],
  [
    'batch',
    batch([job('short', true)], { on_complete: flow, on_success: long, on_failure: short }),
  ],
];
const many: readonly (readonly [string, WorkflowNode])[] = [
  [
    'batch of two',
    batch([short, job('short', true)], { on_complete: flow, on_success: short, on_failure: long }),
  ],
  ['chain of all kinds of jobs', chain(short, long, flow, again, engine, short)],
  ['chain that stops', chain(short, job('long', true), flow)],
  ['chain that stops at a flow', chain(engine, job('flow', true), short)],
  ['group of all kinds of jobs', group(short, long, flow, again, engine)],
  ['group with failures', group(job('flow', true), job('engine', true), long, short)],
  [
    'batch that is well',
    batch([flow, engine, short], { on_complete: long, on_success: flow, on_failure: short }),
  ],
  [
    'batch that is not well',
    batch([job('flow', true), again], { on_complete: flow, on_success: short, on_failure: flow }),
  ],
  [
    'batch of batches',
    batch([batch([short, job('long', true)], { on_failure: flow }), chain(short, flow)], {
      on_success: group(short, flow),
      on_complete: chain(long, short),
    }),
  ],
];

describe('a workflow, while the engine or the server that makes a write dies', () => {
  // What is loaded when it is first needed takes its time.
  beforeAll(async () => {
    all = await openRuns();
    await all.run(chain(short, long), []);
  });
  afterAll(() => all.close());

  it.each(isThorough ? [...few, ...many] : few)(
    'does the jobs and callbacks of a %s once, and in order',
    async (_title, order) => {
      const writes = await judged(order);
      for (let at = 0; at < writes; at += 1) {
        await judged(order, { at, when: 'before' });
        await judged(order, { at, when: 'after' });
      }
      expect(await all.late()).toEqual([]);
    },
    minutes.timeout,
  );

  it(
    'does what its definition says, however it is nested, whatever dies by chance',
    async () => {
      const death = fc.record({ at: fc.nat(60), when: fc.constantFrom('before', 'after') });
      const plans = fc.array(death, { minLength: 1, maxLength: 4 });
      const property = fc.asyncProperty(workflows(2, jobs), plans, async (order, plan) => {
        await judged(order, ...plan);
      });
      await fc.assert(property, runs(3));
      expect(await all.late()).toEqual([]);
    },
    minutes.timeout,
  );
});
