import { it } from 'vitest';
import { decide } from '../../src/decide/decide.js';
import { flow, newJob, t0, tasksOf, world } from '../support/builders.js';
it('x', () => {
  for (const n of [50, 200, 200, 200, 400, 1000]) {
  const names = Array.from({ length: n }, (_, i) => `t${i % 50}`);
  const cond = flow(names.map((task) => ({ task, when: 'x' })));
  const w = world({ flows: [cond], tasks: tasksOf(cond), answers: Object.fromEntries(names.map((_, i) => [`${i}.when`, { ok: true, value: false }])) });
  const b = performance.now(); decide(newJob(), t0, w); console.log('skips', n, performance.now() - b);
  }
});
