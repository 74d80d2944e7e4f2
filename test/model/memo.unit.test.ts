import { describe, expect, it } from 'vitest';
import { createMemo } from '../../src/memo.js';

describe('a memo', () => {
  it('makes what belongs to a key once, and keeps what was used last', () => {
    const made: string[] = [];
    const memo = createMemo<{ of: string }>(2);
    const ask = (key: string) =>
      memo(key, () => {
        made.push(key);
        return { of: key };
      });
    expect(ask('a')).toBe(ask('a'));
    ask('b');
    ask('c');
    ask('b');
    ask('a');
    ask('b');
    ask('c');
    expect(made).toEqual(['a', 'b', 'c', 'a', 'c']);
  });

  it('keeps nothing of what failed', () => {
    const memo = createMemo<object>(2);
    const fail = (): never => {
      throw new Error('no');
    };
    expect(() => memo('a', fail)).toThrow('no');
    expect(memo('a', () => [1])).toEqual([1]);
  });
});
