import { describe, expect, it } from 'vitest';
import { counted, lengthOf, listed, momentFrom, shortened } from '../src/words.js';

describe('counted', () => {
  it('knows one from many', () => {
    expect([counted(0, 'job'), counted(1, 'job'), counted(2, 'job')]).toEqual([
      '0 jobs',
      '1 job',
      '2 jobs',
    ]);
    expect(counted(2, 'copy', 'copies')).toBe('2 copies');
  });
});

describe('listed', () => {
  it('shows the first ones and says how many there are more', () => {
    expect(listed(['a', 'b', 'c'])).toBe('a, b, c');
    expect(listed(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more');
  });
});

describe('lengthOf', () => {
  it.each([
    [-5, '0 ms'],
    [0, '0 ms'],
    [35, '35 ms'],
    [100, '0.1 s'],
    [1_234, '1.2 s'],
    [3_000, '3 s'],
    [9_949, '9.9 s'],
    [9_950, '10 s'],
    [59_600, '1 min'],
    [185_000, '3 min 5 s'],
    [3_600_000, '1 h'],
    [7_800_000, '2 h 10 min'],
    [86_399_900, '1 d'],
    [356_400_000, '4 d 3 h'],
  ])('of %i ms is %s', (ms, text) => {
    expect(lengthOf(ms)).toBe(text);
  });
});

describe('momentFrom', () => {
  it.each([
    [1_000_000, 'now'],
    [1_000_999, 'now'],
    [1_180_000, 'in 3 min'],
    [995_000, '5 s ago'],
    [998_400, '2 s ago'],
  ])('of %i is %s', (at, text) => {
    expect(momentFrom(1_000_000, at)).toBe(text);
  });
});

describe('a long text', () => {
  it.each([
    ['short', 5, 'short'],
    ['longer', 4, 'long…'],
    ['one 😀 more', 5, 'one …'],
    ['one 😀 more', 6, 'one 😀…'],
  ])('%j of %d characters is %j', (text, most, short) => {
    expect(shortened(text, most)).toBe(short);
  });
});
