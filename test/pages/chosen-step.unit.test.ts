import { describe, expect, it } from 'vitest';
import { attemptsIn } from '../../src/pages/job/attempts.js';
import { firstShown, stepMeant, type Searched } from '../../src/pages/job/chosen-step.js';

const step = (path: string, state: string, name = 'calc') => ({ path, name, state, attempt: 1 });

/** A job that failed in two items of a map, and in a step beside it. */
function searched(failed: string | undefined, status: Searched['job']['status'] = 'failed') {
  const steps = [
    step('0', '$$error', 'beside'),
    step('1.map.0', '$$error'),
    step('1.map.1', '$$error'),
    step('2', '$$active', 'last'),
  ];
  const failure = { name: 'E', message: 'It broke.', step: 'calc' };
  return { job: { status, failure }, attempts: attemptsIn({ steps }), failed };
}

describe('the step of a job that is shown', () => {
  it('is the one that failed the job, whatever its message says', () => {
    expect(firstShown(searched('1.map.0'))).toBe('1.map.0');
    expect(stepMeant('calc', searched('1.map.0'))).toBe('1.map.0');
  });

  it('is a failed one of the name that the failure has, where no step failed the flow', () => {
    expect(firstShown(searched(undefined))).toBe('1.map.1');
    expect(stepMeant('calc', searched(undefined))).toBe('1.map.1');
  });

  it('is the one that runs while the job has not failed, else the last one', () => {
    expect(firstShown(searched(undefined, 'running'))).toBe('2');
    const { job, attempts } = searched(undefined, 'cancelled');
    expect(firstShown({ job, attempts: attempts.slice(0, 2), failed: undefined })).toBe('1.map.0');
  });

  it('is what a path in the job or in the definition, or a name, means', () => {
    expect(stepMeant('1.map.1', searched('1.map.0'))).toBe('1.map.1');
    expect(stepMeant('1.map.*', searched('1.map.0'))).toBe('1.map.0');
    expect(stepMeant('last', searched('1.map.0'))).toBe('2');
    expect(stepMeant('none', searched('1.map.0'))).toBe('none');
  });
});
