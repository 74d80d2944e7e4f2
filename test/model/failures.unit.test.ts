import { describe, expect, it } from 'vitest';
import { failure } from '../../src/model/failures.js';

describe('a definition that is missing', () => {
  it.each([
    ['DEFAULT', 'of owner "DEFAULT"'],
    ['me', 'of owner "me" or DEFAULT'],
  ])('is told with whose definitions were looked through: %s', (owner, words) => {
    const flow = failure('FlowMissing', { flow: 'f', owner }).message;
    expect(flow).toContain(`There is no flow "f" ${words}; store it`);
    const task = failure('TaskMissing', { task: 't', owner, at: 'step 0' }).message;
    expect(task).toBe(`There is no task "t" ${words}, which step 0 names.`);
  });
});
