import { describe, expect, it } from 'vitest';
import { checkPattern, readPattern } from '../../src/engine/patterns.js';

function matches(pattern: string, text: string): boolean {
  const read = readPattern(pattern);
  return read.ok && read.matches(text);
}

describe('a pattern', () => {
  it.each([
    ['(modify|destroy)$', 'host/1/destroy', true],
    ['(modify|destroy)$', 'host/1/destroyed', false],
    ['^db/', 'db/1', true],
    ['^db/', 'my/db/1', false],
    ['db', 'my/db/1', true],
    ['(?i)DB', 'db', true],
    ['\\p{L}+$', 'größe', true],
    ['', 'anything', true],
  ])('%s matches %s: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
    expect(checkPattern(pattern)).toBeUndefined();
  });

  it.each([
    ['(', 'missing closing )'],
    ['[a', 'missing closing ]'],
    ['*', 'missing argument to repetition operator'],
    ['(?=a)', 'invalid or unsupported Perl syntax'],
    ['(a)\\1', 'invalid escape sequence'],
    ['a{1001}', 'invalid repeat count'],
    ['((a{100}){100}){100}', 'invalid repeat count'],
  ])('%s is none: %s', (pattern, reason) => {
    expect(checkPattern(pattern)).toContain(reason);
    expect(readPattern(pattern).ok).toBe(false);
  });

  it.each([
    ['(a+)+$', `${'a'.repeat(100_000)}b`],
    ['(a|aa)+$', `${'a'.repeat(100_000)}b`],
    ['(.*.*.*)*x$', 'a'.repeat(100_000)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(100_000)],
    [`(.*)(a|b)*a${'(a|b)'.repeat(12)}$`, 'ab'.repeat(500)],
  ])('%s ends soon where backtracking takes for ever', (pattern, text) => {
    matches(pattern, 'warm');
    const began = performance.now();
    expect(matches(pattern, text)).toBe(false);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('is known for a while only', () => {
    for (let i = 0; i < 1_200; i += 1) expect(matches(`^${i}$`, String(i))).toBe(true);
  });
});
