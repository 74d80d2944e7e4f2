import fc from 'fast-check';
import { it } from 'vitest';
import { appendFileSync } from 'node:fs';
import { simulate, stepsOf } from './simulator.js';
import { anyScenario, calmScenario } from './simulation/flows.js';
import { checkRun } from './simulation/rules.js';
const from = Number(process.env['FROM'] ?? 1),
  count = Number(process.env['COUNT'] ?? 200),
  kind = process.env['KIND'] ?? 'any';
const out = process.env['OUT'] ?? '/tmp/explore.txt';
const log = (text: string) => appendFileSync(out, text + '\n');
function outcomeOf(given: any): unknown {
  const last = simulate(given).revisions.at(-1)?.job as any;
  const steps = stepsOf(last).map(({ engine: _e, pid: _p, claim: _c, ...step }: any) => step);
  const { _rev, ...job } = last;
  steps.sort((x: any, y: any) => (x.path + '#' + x.attempt < y.path + '#' + y.attempt ? -1 : 1));
  return { ...job, steps };
}
it('explores', { timeout: 6_000_000 }, () => {
  const errors = new Map<string, number>();
  const t = performance.now();
  for (let seed = from; seed < from + count; seed += 1) {
    const [given] = fc.sample((kind === 'any' ? anyScenario : calmScenario) as any, {
      seed,
      numRuns: 1,
    }) as any[];
    const began = performance.now();
    try {
      if (kind === 'any') checkRun(given, simulate(given));
      else {
        const a = JSON.stringify(outcomeOf({ ...given, engines: 1, order: 1 }));
        const b = JSON.stringify(outcomeOf({ ...given, engines: 3, order: 99 }));
        if (a !== b) throw new Error('differs');
      }
    } catch (e) {
      const message = String((e as Error).message)
        .split('\n')[0]!
        .replace(/\d+/g, 'N')
        .slice(0, 100);
      if (!errors.has(message))
        log(
          `ERR seed ${seed}: ${(e as Error).message.slice(0, 400)}\n   ${((e as Error).stack ?? '')
            .split('\n')
            .filter((l) => /src\/decide|rules.ts|simulator/.test(l))
            .slice(0, 3)
            .join('\n')}`,
        );
      errors.set(message, (errors.get(message) ?? 0) + 1);
    }
    const ms = performance.now() - began;
    if (ms > 3000) log(`SLOW seed ${seed}: ${ms.toFixed(0)} ms`);
  }
  log(
    `DONE ${count} in ${((performance.now() - t) / 1000).toFixed(1)} s: ${JSON.stringify([...errors])}`,
  );
});
