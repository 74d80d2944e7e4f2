import { randomBytes } from 'node:crypto';
import { styleText } from 'node:util';

/*
 * Everything that is printed goes through `safeLine` or `safeBlock`. What documents bring (ids, names,
 * messages) may hold characters that move the cursor, change colours, ring, or turn the direction of
 * the text around: these are shown as escapes. Colours of our own carry a sign that no document knows.
 */

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Begins our own codes; new in each process, so that no document can have it. */
const sign = `\u001B${randomBytes(8).toString('hex')}`;
const ownCode = new RegExp(`${sign}(\\[[0-9;]*m)`, 'g');

/** A text in a style, for what is printed later. Whether there are colours was decided before. */
export function styled(style: Style, text: string): string {
  const plain = { validateStream: false } as Parameters<typeof styleText>[2];
  const [before = '', after = ''] = styleText(style, '|', plain).split('|');
  const own = (code: string): string => code.replaceAll('\u001B', sign);
  return `${own(before)}${text}${own(after)}`;
}

/**
 * What a terminal may act upon, what has no shape, and what changes the direction: control characters
 * (ESC, BEL, CR and U+0080 to U+009F among them), format characters, line separators, fillers.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115F\u1160\u3164\uFFA0]|\u034F|\u17B4|\u17B5/gu;

/** Text of several lines as it may stand on a terminal; line feeds and tabs stay. */
export function safeBlock(text: string): string {
  return text
    .split(ownCode)
    .map((part, i) => (i % 2 === 1 ? `\u001B${part}` : part.replace(unsafe, escapedInBlock)))
    .join('');
}

/** One line as it may stand on a terminal: line feeds and tabs are escaped, too. */
export function safeLine(text: string): string {
  return text
    .split(ownCode)
    .map((part, i) => (i % 2 === 1 ? `\u001B${part}` : part.replace(unsafe, escaped)))
    .join('');
}

/** A text of documents within a sentence: its blanks and line feeds are single blanks. */
export function plain(text: string): string {
  return safeLine(text.replace(/\s+/g, ' '));
}

const escapedInBlock = (character: string): string =>
  character === '\n' || character === '\t' ? character : escaped(character);

/** As JSON has it, so that JSON stays the same JSON. */
function escaped(character: string): string {
  const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return (
    short[character] ??
    Array.from({ length: character.length }, (_, i) => {
      const unit = character.charCodeAt(i).toString(16).padStart(4, '0');
      return `\\u${unit}`;
    }).join('')
  );
}
