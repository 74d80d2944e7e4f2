import { nextTurn } from '../turns.js';
import { parsePieces } from './parse-pieces.js';

/** A text of so many characters is read in a few milliseconds, whatever it holds. */
const shortText = 65_536;

/**
 * Reads the JSON of an answer of the database, however large it is, without holding up the event loop.
 * Answers undefined when it is no JSON.
 */
export async function readJson(text: string): Promise<unknown> {
  if (text.length > shortText) {
    await nextTurn();
    const value = await parsePieces(text);
    // Nothing that is nested too deeply for pieces can be stored: the database could not check it.
    if (value !== undefined) return value;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
