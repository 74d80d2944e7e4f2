import { readFile } from 'node:fs/promises';
import { problem } from './errors.js';

/**
 * Reads a text file, a byte order mark included.
 * @throws TwsError `file_unusable` when it is not UTF-8; else as `readFile`
 */
export async function readTextFile(path: string, shown = path): Promise<string> {
  return utf8TextOf(await readFile(path), shown);
}

/** The text that the bytes of a file are. @throws TwsError `file_unusable` when they are not UTF-8 */
export function utf8TextOf(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw problem('file_unusable', { file: shown, reason: 'it is not a text in UTF-8.' });
  }
}

/** A text without the byte order mark that some editors begin it with. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');
