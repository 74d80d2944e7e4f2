import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiPage } from './reference/api.js';
import { commandsPage } from './reference/commands.js';
import { documentsPage } from './reference/documents.js';
import { errorsPage } from './reference/errors.js';
import { featuresPage } from './reference/features.js';
import { settingsPage } from './reference/settings.js';
import { shownBelow } from './reference/shown.js';

/** The pages of the reference by file name, from what the sources declare. @param root the repository */
export async function referencePages(root: string): Promise<Readonly<Record<string, string>>> {
  const glossary = await readFile(join(root, 'src', 'model', 'README.md'), 'utf8');
  const plugins = await readFile(join(root, 'src', 'plugin', 'README.md'), 'utf8');
  const features = await readFile(join(root, 'scripts', 'reference', 'features.md'), 'utf8');
  return {
    'documents.md': documentsPage(glossary),
    'errors.md': errorsPage({ glossary, plugins }),
    'settings.md': settingsPage(),
    'commands.md': commandsPage(),
    'api.md': apiPage(),
    'features.md': featuresPage(features, await shownBelow(root)),
  };
}

/** Writes them into `docs/reference`. */
export async function writeReference(root: string): Promise<void> {
  const folder = join(root, 'docs', 'reference');
  await mkdir(folder, { recursive: true });
  const pages = await referencePages(root);
  await Promise.all(
    Object.entries(pages).map(([name, text]) => writeFile(join(folder, name), text)),
  );
}
