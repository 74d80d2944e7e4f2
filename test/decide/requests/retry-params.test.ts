import { expect, it } from 'vitest';
import { stepWords, strayChanges } from '../../../src/decide/requests/retry-params.js';
import { without } from '../../../src/model/record.js';
import { flow, liveJob } from '../../support/builders.js';

it('what the schema of the flow declares is no stray parameter', () => {
  const schema = { type: 'object', properties: { own: {} } };
  const job = liveJob(flow(['a'], { schema }));
  expect(strayChanges(job, { own: 1, other: 1 })).toEqual(['other']);
  expect(strayChanges(without(job, 'params'), { own: 1, other: 1 })).toEqual(['other']);
});

it('what a template or a condition reads is no stray parameter', () => {
  const job = liveJob(flow([{ task: 'a', when: 'job.params.big > 1' }]));
  expect(strayChanges(job, { big: 1, bi: 1, a: {}, 'a-0': {} })).toEqual(['bi']);
});

it('only the first of many steps are named', () => {
  const names = Array.from({ length: 40 }, (_, i) => `t${i}`);
  expect(stepWords(liveJob(flow(names)))).toMatch(/^t0-0, .*, t29-29 …$/);
});
