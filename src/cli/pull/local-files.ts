import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { problem } from '../../errors.js';
import { jsonFilesIn, readJsonFile, type FoundFile } from '../files.js';
import { ownFolder, shownPath, type PathBase } from '../paths.js';
import type { Written } from '../../validate/written.js';

/** A file of the project that holds a definition. */
export type LocalFile = {
  readonly file: FoundFile;
  readonly text: string;
  readonly doc: Written;
  /** Its name begins with `_`: it stands for its document, and is never written. */
  readonly isDraft: boolean;
};

/**
 * Every file of couch/tws that holds a definition, whether a push takes it or not.
 * @throws TwsError `file_unusable` for one that holds no JSON object
 */
export async function localFiles(place: PathBase): Promise<readonly LocalFile[]> {
  const folder = ownFolder(place.root);
  if (!existsSync(folder)) return [];
  const found: LocalFile[] = [];
  for (const path of await jsonFilesIn(folder)) {
    const isDraft = basename(path).startsWith('_');
    const read = await readJsonFile({ path, shown: shownPath(path, place), named: false });
    if (!read.ok) {
      if (isDraft) continue;
      const reason = `which document it holds cannot be read. ${read.problem.message}`;
      throw problem('file_unusable', { file: read.problem.file, reason });
    }
    const { file, text, doc } = read;
    if (doc['type'] !== 'job') found.push({ file, text, doc, isDraft });
  }
  return found;
}
