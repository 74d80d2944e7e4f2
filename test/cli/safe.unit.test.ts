import { describe, expect, it } from 'vitest';
import { plain, safeBlock, safeLine, styled } from '../../src/cli/safe.js';

describe('text on a terminal', () => {
  it.each([
    ['ESC', 'a\u001B[31mb', 'a\\u001b[31mb'],
    ['BEL', 'a\u0007b', 'a\\u0007b'],
    ['CR', 'a\rb', 'a\\rb'],
    ['DEL', 'a\u007Fb', 'a\\u007fb'],
    ['C1 controls', 'a\u009B31m\u0080b', 'a\\u009b31m\\u0080b'],
    ['overrides of direction', 'a\u202E\u2066b', 'a\\u202e\\u2066b'],
    ['characters of no width', 'a\u200B\uFEFF\u00ADb', 'a\\u200b\\ufeff\\u00adb'],
    ['line separators', 'a\u2028b', 'a\\u2028b'],
    ['tags beyond the first plane', 'a\u{E0041}b', 'a\\udb40\\udc41b'],
  ])('shows %s as escapes', (_, text, shown) => {
    expect(safeLine(text)).toBe(shown);
    expect(safeBlock(text)).toBe(shown);
    expect(plain(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  });

  it('leaves everything else as it is', () => {
    for (const text of ['Käse 日本 🙂', 'a\\u001b', '{"a": 1}']) expect(safeLine(text)).toBe(text);
  });

  it('keeps the lines of a block, and one line one line', () => {
    expect(safeBlock('a\n\tb')).toBe('a\n\tb');
    expect(safeLine('a\n\tb')).toBe('a\\n\\tb');
    expect(plain('a\n\tb')).toBe('a b');
  });

  it('leaves JSON the same JSON', () => {
    const value = { 'a\u202E': 'b\u009B\u001B\n\u{E0041}' };
    expect(JSON.parse(safeBlock(JSON.stringify(value, null, 2)))).toEqual(value);
  });

  it('keeps colours of our own, and no others', () => {
    expect(safeLine(`x ${styled('red', 'a\u001B[31mb')} y`)).toBe(
      'x \u001B[31ma\\u001b[31mb\u001B[39m y',
    );
    const [before = ''] = styled('bold', '|').split('|');
    expect(before).not.toBe('\u001B[1m');
    expect(safeLine(before)).toBe('\u001B[1m');
  });
});
