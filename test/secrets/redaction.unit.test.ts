import { describe, expect, it } from 'vitest';
import { redactor } from '../../src/secrets/redaction.js';

const secret = 'hunter2&+/ü?';

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
    const json = JSON.stringify({ pass: 'p&ss "word"' });
    expect(redact(json)).toBe('{"pass":"[secret]"}');
    expect(redact(JSON.stringify([json]))).toBe(JSON.stringify(['{"pass":"[secret]"}']));
  });

  it('hides what HTML and mails make of a secret, single lines of it, and other capitals', () => {
    const redact = redactor([`Mrs. "O'Hara" & sons=ü\nStreet 17, Old Town\nX 1`]);
    const html = `Mrs. &quot;O&#x27;Hara&quot; &amp; sons&#x3D;ü`;
    const lines = [`Mrs. "O'Hara" & sons=ü`, 'street 17, old town', 'STREET 17, OLD TOWN'];
    const quoted = `Mrs. "O'Hara" & sons=3D=C3=BC`;
    const others = [
      `Mrs. &quot;O'Hara&quot; &amp; sons=ü`,
      'Mrs. &quot;O&#39;Hara&quot; &amp; sons=ü',
    ];
    for (const text of [html, ...lines, quoted, ...others]) {
      expect(redact(`so ${text} it is`)).toBe('so [secret] it is');
    }
    expect(redact('X 1')).toBe('X 1');
  });

  it('hides what took the place of the oldest text in a list that forgets', () => {
    const known = ['first one', 'second one'];
    const redact = redactor(known);
    expect(redact('a second one')).toBe('a [secret]');
    known.push('third one');
    known.shift();
    expect(redact('a third one')).toBe('a [secret]');
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

  it('hides a secret of digits that was read as a number', () => {
    const redact = redactor(['12345678901', '0042', 'x1']);
    expect(redact({ v: [12345678901, 42, 1, 12345678902], x: '42' })).toEqual({
      v: ['[secret]', '[secret]', 1, 12345678902],
      x: '42',
    });
  });

  it('hides what makes a secret of an address', () => {
    const address =
      'https://me:pass%20word@h.example/services/T0/PATHSECRET?api_key=URLSECRETKEY&f=json';
    const redact = redactor([address]);
    expect(redact('GET https://h.example got /services/T0/PATHSECRET?x=1, URLSECRETKEY')).toBe(
      'GET https://h.example got [secret]?x=1, [secret]',
    );
    expect(redact(['/services/T0/PATHSECRET?api_key=URLSECRETKEY&f=json', 'pass word'])).toEqual([
      '[secret]',
      '[secret]',
    ]);
    expect(redact('services are json')).toBe('services are json');
    expect(redactor(['https://h.example/'])('a/b')).toBe('a/b');
  });

  it('hides what was added to the list later', () => {
    const clear: string[] = [];
    const redact = redactor(clear);
    clear.push('later');
    expect(redact('sooner or later')).toBe('sooner or [secret]');
  });

  it('hides secrets that are longer than an expression may be, alone and many together', () => {
    const secret = 'Maria & Söhne, "quoted" '.repeat(3_000);
    const others = Array.from({ length: 200 }, (_, n) => `${n} of ${'long secrets '.repeat(30)}`);
    const hide = redactor([secret, ...others]);
    const spelled = [
      ...[secret, `<${secret}>`, `${secret}${secret}`, JSON.stringify(secret)],
      ...[encodeURIComponent(secret), Buffer.from(secret).toString('hex'), secret.toUpperCase()],
      ...['', 'a', 'ab'].map((before) => Buffer.from(`${before}${secret}z`).toString('base64')),
      ...['', 'a', 'ab'].map((before) => Buffer.from(`${before}${secret}z`).toString('base64url')),
      others.at(-1),
    ].map(hide);
    for (const text of spelled) {
      expect(text).toContain('[secret]');
      expect(String(text).length).toBeLessThan(24);
    }
  });

  it('survives a text that is no well-formed Unicode', () => {
    expect(redactor(['lone \uD800'])('a lone \uD800!')).toBe('a [secret]!');
  });

  it.each<[string, (text: string) => string]>([
    ['hex', (text) => Buffer.from(text).toString('hex')],
    ['hex in upper case', (text) => Buffer.from(text).toString('hex').toUpperCase()],
    ['percent-encoding', encodeURIComponent],
    ['percent-encoding in lower case', (text) => encodeURIComponent(text).toLowerCase()],
    ['form encoding', (text) => new URLSearchParams({ x: text }).toString()],
    ['a JSON text', (text) => JSON.stringify({ text })],
  ])('hides a secret in %s', (_name, encode) => {
    const shown = redactor([secret])(`a ${encode(secret)} b`);
    expect(shown).toContain('[secret]');
    expect(shown).not.toContain('unter');
    expect(shown).not.toContain('756e746572');
  });

  it.each(
    ['', 'u', 'u:', 'ada:', 'somebody:'].flatMap((before) =>
      ['', 'z', 'zz', 'zzz'].map((after) => [before, after] as const),
    ),
  )('hides a secret in base64 between "%s" and "%s"', (before, after) => {
    const redact = redactor([secret]);
    for (const format of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${before}${secret}${after}`).toString(format);
      const shown = redact(`Basic ${encoded}`);
      expect(shown).toContain('[secret]');
      const left = shown
        .replace('Basic ', '')
        .split('[secret]')
        .map((part) => Buffer.from(part, format).toString());
      for (const part of left)
        expect(`${before}\n${after}`).toContain(part.replace(/[^a-z:]+$/, ''));
      expect(Buffer.from(shown.replace('Basic ', ''), format).toString()).not.toContain('unter2');
    }
  });

  it('leaves base64 alone that has nothing of a secret', () => {
    const text = Buffer.from('nothing to see in this text, nothing at all').toString('base64');
    expect(redactor([secret, 'abcd'])(text)).toBe(text);
  });
});
