import { readFileSync } from 'node:fs';

/** The version of this package: the folder that holds package.json is some levels above. */
export const version: string = readVersion(new URL('.', import.meta.url));

function readVersion(folder: URL): string {
  try {
    const { name, version: found } = JSON.parse(
      readFileSync(new URL('package.json', folder), 'utf8'),
    ) as { name?: string; version?: string };
    if (name === 'tws' && found !== undefined) return found;
  } catch {
    // Not here; the folder above may have it.
  }
  const above = new URL('..', folder);
  return above.href === folder.href ? '0.0.0' : readVersion(above);
}
