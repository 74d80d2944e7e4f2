import fc from 'fast-check';
import { it, expect } from 'vitest';
import { simulate, stepsOf } from './simulator.js';
import { anyScenario, calmScenario } from './simulation/flows.js';
import { checkRun } from './simulation/rules.js';
const seed = Number(process.env['SEED']),
  kind = process.env['KIND'] ?? 'any';
function outcomeOf(given: any): any {
  const last = simulate(given).revisions.at(-1)?.job as any;
  const steps = stepsOf(last).map(({ engine: _e, pid: _p, claim: _c, ...step }: any) => step);
  const { _rev, definitions, ...job } = last;
  steps.sort((x: any, y: any) => (x.path + '#' + x.attempt < y.path + '#' + y.attempt ? -1 : 1));
  return { ...job, steps };
}
it('one', { timeout: 6_000_000 }, () => {
  const [given] = fc.sample((kind === 'any' ? anyScenario : calmScenario) as any, {
    seed,
    numRuns: 1,
  }) as any[];
  console.log(
    JSON.stringify(given.flow, null, 1).slice(0, 6000),
    JSON.stringify({ ...given, flow: 0, tasks: 0 }),
  );
  if (kind === 'calm') {
    const a = outcomeOf({ ...given, engines: 1, order: 1 });
    const b = outcomeOf({ ...given, engines: 3, order: 99 });
    expect(b).toEqual(a);
  } else {
    const run = simulate(given);
    if (process.env['SHOW'])
      for (const s of stepsOf(run.revisions.at(-1)!.job)) {
        const q = s as any;
        console.log(
          'STEP',
          q.path,
          q.task,
          q.attempt,
          q.run,
          q.phase,
          q.state,
          q.accepted,
          q.end,
          q.due ?? '',
          q.failure?.name ?? '',
          q.structure ? JSON.stringify(q.result) : '',
        );
      }
    if (process.env['SHOW']) {
      const { steps, definitions, tasks, flow_definition, params, ...rest } = run.revisions.at(-1)!
        .job as any;
      console.log(JSON.stringify(rest));
    }
    checkRun(given, run);
  }
});
