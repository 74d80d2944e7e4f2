import { describe, expect, it } from 'vitest';
import { quoteOf, textsSent } from '../../src/plugin/quote.js';

describe('the quote of an answer', () => {
  it.each<[string, string, readonly string[], string]>([
    ['is the whole of a short one', ' no\n such  thing ', ['none'], 'no such thing'],
    ['ends after 200 characters', 'x'.repeat(300), [], 'x'.repeat(200)],
    ['cuts no text that was sent', `${'x'.repeat(195)}SECRET`, ['SECRET'], 'x'.repeat(195)],
    [
      'cuts no text that another one would have it cut',
      `${'x'.repeat(190)}ABCDEFGHIJKL`,
      ['ABCDEF', 'FGHIJKL'],
      'x'.repeat(190),
    ],
    ['keeps a text that ends in time', `${'x'.repeat(194)}SECRET!`, ['SECRET'], 'x'.repeat(194)],
  ])('%s', (_what, answer, sent, quote) => {
    expect(quoteOf(answer, sent).replace(/SECRET$/, '')).toBe(quote);
  });

  it('knows headers by word, strings of the body and parts of the address', () => {
    const url = new URL('https://h.example/path?key=value');
    const sent = textsSent(['Bearer token'], '{"pass":"w\\"ord"}', url);
    expect(sent).toEqual(
      expect.arrayContaining(['Bearer token', 'token', 'w\\"ord', '/path?key=value', 'value']),
    );
  });
});
