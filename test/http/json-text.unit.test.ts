import { describe, expect, it } from 'vitest';
import { jsonText } from '../../src/http/plumbing/json-text.js';

describe('the JSON of an answer', () => {
  it.each(['\u001B[2J', '\u009B2J', '\u007F', 'a\u202Eb', '\u2028', '\u{E0041}', '\uFEFF'])(
    'has no character that a terminal acts upon: %j',
    (text) => {
      const value = { reason: text, [text]: [text] };
      const json = jsonText(value);
      expect(json).toMatch(/^[ -~]*$/);
      expect(JSON.parse(json)).toEqual(value);
    },
  );

  it('is as it was for every other text', () => {
    const value = { a: 'Grüße, 日本語, 😀\n', b: [1, null, true] };
    expect(jsonText(value)).toBe(JSON.stringify(value));
  });
});
