import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { problem } from '../errors.js';
import { testFileSchema, type TestFile } from '../testing/cases.js';
import { checkDocument } from '../validate/document.js';
import type { FileProblem, Written } from '../validate/written.js';
import { findFiles, jsonFilesIn, readJsonFile, type FoundFile } from './files.js';
import { resolvePath, shownPath, type PathBase } from './paths.js';

const ending = '.test.json';

/**
 * The files of test cases that paths name: files, and all `*.test.json` of folders; without a path those
 * of the project's folder `test`. @throws TwsError `file_missing`, `tests_missing`
 */
export async function findTestFiles(
  paths: readonly string[],
  place: PathBase,
): Promise<readonly FoundFile[]> {
  const given = paths.length === 0 ? [join(place.root, 'test')] : paths;
  const found = new Map<string, FoundFile>();
  for (const one of given) {
    const path = resolvePath(one, place);
    const kind = await stat(path).catch(() => undefined);
    if (kind === undefined && paths.length > 0) {
      throw problem('file_missing', { file: shownPath(path, place) });
    }
    const inside = kind?.isDirectory() === true ? await jsonFilesIn(path) : [];
    const files = kind?.isFile() === true ? [path] : inside.filter((file) => file.endsWith(ending));
    for (const file of files) {
      found.set(file, {
        path: file,
        shown: shownPath(file, place),
        named: kind?.isFile() === true,
      });
    }
  }
  if (found.size > 0) return [...found.values()];
  throw problem('tests_missing', {
    places: given.map((one) => shownPath(resolvePath(one, place), place)),
  });
}

export type ReadTests = {
  readonly tests: readonly { readonly file: FoundFile; readonly test: TestFile }[];
  readonly problems: readonly FileProblem[];
};

/** Reads and checks files of test cases. */
export async function readTestFiles(files: readonly FoundFile[]): Promise<ReadTests> {
  const tests: { readonly file: FoundFile; readonly test: TestFile }[] = [];
  const problems: FileProblem[] = [];
  for (const read of await Promise.all(files.map(readJsonFile))) {
    if (!read.ok) {
      problems.push(read.problem);
      continue;
    }
    const parsed = testFileSchema.safeParse(read.doc);
    if (parsed.success) tests.push({ file: read.file, test: parsed.data });
    else {
      for (const { path, message } of parsed.error.issues) {
        problems.push({ file: read.file.shown, path: path.join('.'), message });
      }
    }
  }
  return { tests, problems };
}

/** The tasks and flows of a project, and what is wrong with them. */
export async function readDefinitions(place: PathBase): Promise<{
  readonly documents: readonly Written[];
  readonly problems: readonly FileProblem[];
}> {
  const folders = ['~tws/tasks', '~tws/flows'].filter((folder) =>
    existsSync(resolvePath(folder, place)),
  );
  const { files } = await findFiles(folders, place);
  const documents: Written[] = [];
  const problems: FileProblem[] = [];
  for (const read of await Promise.all(files.map(readJsonFile))) {
    if (!read.ok) problems.push(read.problem);
    else {
      const { $schema: _schema, _rev, ...doc } = read.doc;
      problems.push(...checkDocument(read.file.shown, doc));
      documents.push(doc);
    }
  }
  return { documents, problems };
}
