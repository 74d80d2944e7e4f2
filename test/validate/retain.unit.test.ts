import { describe, expect, it } from 'vitest';
import { ownProblems } from '../../src/pages/editor/own-check.js';
import { documentProblems } from '../../src/validate/single.js';

const flow = { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: [{ delay: 1 }] };
const problem = {
  path: 'retain.failed.days',
  message: 'retain.failed.days must be left out: there can be only age, count.',
};

describe('retain of a flow', () => {
  it('is refused by push, the API and the editor where it is not valid', () => {
    const written = { ...flow, retain: { failed: { days: 3 } } };
    expect(documentProblems(written)).toEqual([problem]);
    expect(ownProblems('flow', written)).toEqual([problem]);
  });

  it('is taken where it is', () => {
    const written = { ...flow, retain: { failed: { age: 'P3D' } } };
    expect(documentProblems(written)).toEqual([]);
    expect(ownProblems('flow', written)).toEqual([]);
  });
});
