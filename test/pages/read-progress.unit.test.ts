import { describe, expect, it } from 'vitest';
import { readProgress } from '../../src/pages/job/read-progress.js';

describe('what a step says of its progress', () => {
  it.each([
    [0.25, 25, ''],
    [40, 40, ''],
    [250, undefined, '250'],
    ['half way', undefined, 'half way'],
    ['{not JSON', undefined, '{not JSON'],
    ['{"percent":20,"note":"reads rows"}', 20, 'note: reads rows'],
    ['{"percent":120}', undefined, '{"percent":120}'],
    ['{"done":3,"total":12}', 25, 'done: 3 of 12'],
    [{ percent: 5 }, 5, ''],
    [{ phase: 2 }, undefined, '{"phase":2}'],
    [['a'], undefined, '["a"]'],
  ])('is read from %j', (value, share, words) => {
    expect(readProgress(value)).toEqual({ share, words });
  });
});
