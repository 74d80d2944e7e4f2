import { describe, expect, it } from 'vitest';
import { problem } from '../../src/errors.js';

describe('the sentence for a document of another kind', () => {
  it.each([
    ['task', 'Document "x" is a task, not a job.'],
    ['jobb', 'Document "x" is of type "jobb", which is none of TWS; a job has "type": "job".'],
  ])('tells a %s', (kind, sentence) => {
    expect(problem('document_kind', { id: 'x', kind, wanted: 'job' }).message).toBe(sentence);
  });
});
