import { describe, expect, it } from 'vitest';
import { parseJsonText } from '../../src/pages/editor/read-json.js';

describe('reading a text as JSON', () => {
  it.each<readonly [text: string, marked: string, message: RegExp]>([
    ['{"a": 1,}', '}', /key in double quotes/],
    ['{"a" 1}', '1', /colon/],
    ['{"a": 1 "b": 2}', '"b"', /comma/],
    ['{"a": [1, 2}', '}', /"\]" is missing|comma/],
    ['{"a": 1', '1', /"}" is missing/],
    ['{"a": nix}', 'nix', /double quotes/],
    ['{"a": "b}', '"b}', /second double quote/],
    ['{"a": "\\x"}', '"\\x"', /backslash/],
    ['{} {}', '{', /Nothing may follow/],
    ['// no\n{}', '// no', /Comments/],
    ['[1, ]', ']', /value must stand here/],
    ['', '', /value must stand here/],
  ])('marks what is wrong in %s', (text, marked, message) => {
    const { marks, ...rest } = parseJsonText(text);
    expect('value' in rest).toBe(false);
    const [first] = marks;
    expect(first?.severity).toBe('error');
    expect(marks.map((mark) => mark.message).join(' ')).toMatch(message);
    expect(text.slice(first?.from, first?.to)).toBe(marked);
  });

  it('takes what JSON.parse takes, and nothing else', () => {
    for (const text of ['{}', '[1, 2.5e3, "é", null, true]', ' "a" ', '-0']) {
      expect(parseJsonText(text)).toMatchObject({ value: JSON.parse(text) as unknown, marks: [] });
    }
    for (const text of ['01', '{"a":+1}', "{'a':1}", 'undefined', '[1,,2]', '"\t"']) {
      const read = parseJsonText(text);
      expect([text, 'value' in read, read.marks.length > 0]).toEqual([text, false, true]);
    }
  });

  it('warns of a key that is there twice, wherever it is', () => {
    const text = '{"a": {"b": 1, "c": 2, "b": 3}, "a": 4}';
    const { value, marks } = parseJsonText(text);
    expect(value).toEqual({ a: 4 });
    expect(marks.map(({ from, severity }) => [from, severity])).toEqual([
      [text.lastIndexOf('"a"'), 'warning'],
      [text.lastIndexOf('"b"'), 'warning'],
    ]);
  });
});
