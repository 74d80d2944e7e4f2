import { describe, expect, it } from 'vitest';
import { matchesFailure } from '../../src/model/failure-pattern.js';

describe('a pattern of failures', () => {
  const cases: readonly [string, string, boolean][] = [
    ['Auth.Denied', 'Auth.Denied', true],
    ['Auth', 'Auth.Denied', false],
    ['auth.denied', 'Auth.Denied', false],
    ['', 'Auth', false],
    ['*', 'Auth', true],
    ['*', '', true],
    ['Auth.*', 'Auth.Denied', true],
    ['Auth.*', 'Auth', false],
    ['Auth*', 'Auth', true],
    ['*Timeout', 'StepTimeout', true],
    ['*Timeout', 'TimeoutError', false],
    ['E*T', 'ECONNREFUSED', false],
    ['E*T', 'ECONNRESET', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a*b*c', 'a-c', false],
    ['a*b*b', 'ab', false],
    ['a.c', 'abc', false],
    ['(a+)+$', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', false],
  ];
  // Shows X-03.
  it.each(cases)('%s and the name %s: %s', (pattern, name, matched) => {
    expect(matchesFailure(pattern, { name, message: '' })).toBe(matched);
    expect(matchesFailure(pattern, { name: 'Other!', message: '', code: name })).toBe(
      matched || pattern === '*',
    );
  });

  it('matches a number as code', () => {
    expect(matchesFailure('5*', { name: 'HttpStatus', message: '', code: 503 })).toBe(true);
  });

  it('takes no longer for one that is made to', () => {
    const began = performance.now();
    matchesFailure('a*'.repeat(500) + 'b', { name: 'a'.repeat(20_000), message: '' });
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
