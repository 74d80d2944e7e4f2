/**
 * JSON of an answer. Characters that a terminal acts upon, or that turn the direction of a text, are
 * written as escapes: the value is the same, and the answer can be shown as it is.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(unsafe, escaped);
}

/** JSON.stringify escapes U+0000 to U+001F itself. */
const unsafe = /[\u007F-\u009F\u2028\u2029\p{Cf}]/gu;

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
