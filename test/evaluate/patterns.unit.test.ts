import { describe, expect, it } from 'vitest';
import { patternWeight } from '../../src/evaluate/pattern-weight.js';
import {
  checkLockPattern,
  heaviestPattern,
  readLockPattern,
  readPattern,
} from '../../src/evaluate/patterns.js';

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
    expect(checkLockPattern(pattern)).toBeUndefined();
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
    expect(readPattern(pattern)).toMatchObject({
      ok: false,
      reason: expect.stringContaining(reason) as unknown,
    });
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

  it.each([
    ['a{1,1000}'.repeat(100)],
    ['(a?){30}{30}'],
    ['((a{1,30}){1,30})'],
    ['\\p{L}'.repeat(150)],
    [`[${'\\p{L}'.repeat(150)}]`],
    // What looks like a class and is none hides nothing.
    [`\\Q[\\E${'a{1,1000}'.repeat(50)}]`],
    [`\\[${'a{1,1000}'.repeat(50)}]`],
    [`[]]${'a{1,1000}'.repeat(50)}`],
    [`(?:${'a{1,1000}'.repeat(50)}`],
    ['a{1000}{1000}{1000}'],
  ])('of locks is refused when it becomes too long written out: %s', (pattern) => {
    expect(checkLockPattern(pattern)).toMatch(/too often|invalid|missing/);
    expect(readLockPattern(pattern).ok).toBe(false);
    expect(patternWeight(pattern)).toBeGreaterThan(heaviestPattern);
  });

  it.each([
    ['^vm/[0-9]{1,5}$'],
    ['^(db|vm)/\\w{3,30}/[^/]+$'],
    ['\\p{L}+$'],
    ['x'.repeat(1_000)],
    ['^[\\p{L}\\p{N}]{1,255}$'],
    ['^[[:alpha:]]{1,255}$'],
    ['a)b'],
    ['{2}'],
  ])('%s is light enough', (pattern) => {
    expect(patternWeight(pattern)).toBeLessThanOrEqual(heaviestPattern);
  });

  it('is known for a while only', () => {
    for (let i = 0; i < 1_200; i += 1) expect(matches(`^${i}$`, String(i))).toBe(true);
  });
});
