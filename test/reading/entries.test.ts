import { describe, expect, it } from 'vitest';
import { queueOfDocument } from '../../src/reading/entries.js';

describe('the queue of a job in any form', () => {
  it.each([
    ['its own', { queue: 'a', flow_definition: { queue: 'b' } }, { queue: 'c' }, 'a'],
    ['that of its copy of the flow', { flow_definition: { queue: 'b' } }, { queue: 'c' }, 'b'],
    ['that of its flow as it is stored', { parent: { queue: 'd' } }, { queue: 'c' }, 'c'],
    ['that of its parent', { queue: 7, parent: { queue: 'd' } }, undefined, 'd'],
    ['the usual one', { flow_definition: 'x', parent: 'y' }, undefined, 'default'],
  ])('is %s', (_title, job, flow, queue) => {
    expect(queueOfDocument(job, flow)).toBe(queue);
  });
});
