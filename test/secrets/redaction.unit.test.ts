import { describe, expect, it } from 'vitest';
import { redactor } from '../../src/secrets/redaction.js';

describe('redactor', () => {
  it('hides secrets in texts, in keys and deep inside of values', () => {
    const redact = redactor(['hunter22']);
    expect(redact('login with hunter22 failed')).toBe('login with [secret] failed');
    expect(redact({ a: ['hunter22', 1], 'x hunter22': null })).toEqual({
      a: ['[secret]', 1],
      'x [secret]': null,
    });
  });

  it('hides percent-encoded and JSON spellings', () => {
    const redact = redactor(['p&ss "word"']);
    expect(redact('url?p=p%26ss%20%22word%22')).toBe('url?p=[secret]');
    expect(redact(JSON.stringify({ pass: 'p&ss "word"' }))).toBe('{"pass":"[secret]"}');
  });

  it('hides the longest first, so that no rest stays readable', () => {
    expect(redactor(['abcd', 'abcdefgh'])('abcdefgh')).toBe('[secret]');
  });

  it('hides a short secret only where it is the whole value', () => {
    expect(redactor(['no'])({ answer: 'no', text: 'nothing' })).toEqual({
      answer: '[secret]',
      text: 'nothing',
    });
  });

  it('hides what was added to the list later', () => {
    const clear: string[] = [];
    const redact = redactor(clear);
    clear.push('later');
    expect(redact('sooner or later')).toBe('sooner or [secret]');
  });

  it('survives a text that is no well-formed Unicode', () => {
    expect(redactor(['lone \uD800'])('a lone \uD800!')).toBe('a [secret]!');
  });
});
