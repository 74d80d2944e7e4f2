import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareFiles, writeFiles } from '../../src/cli/import-files.js';
import { dying } from './dying-disk.js';
import { project } from './terminal.js';

const names = ['plugins/a.js', 'couch/tws/tasks/a.json', 'couch/tws/tasks/b.json'];
const texts = (edition: number) => new Map(names.map((name) => [name, `${name} ${edition}`]));

/** Three editions are imported, the second and the third import die; resolves with whether the second did. */
async function importKilledAt(at: number, later: number): Promise<boolean> {
  const root = await project({});
  const imported = async (edition: number, disk = dying(Infinity)): Promise<void> => {
    const files = texts(edition);
    await writeFiles(root, files, await compareFiles(root, files), disk);
  };
  await imported(1);
  const disk = dying(at);
  const killed = (error: unknown) => expect(error).toMatchObject({ message: 'killed' });
  await imported(2, disk).catch(killed);
  await imported(3, dying(later)).catch(killed);
  // The import goes on with what is newer by now; nothing that the others wrote counts as an edit.
  await imported(4);
  for (const name of names) expect(await readFile(join(root, name), 'utf8')).toBe(`${name} 4`);
  await writeFile(join(root, 'plugins/a.js'), 'edited');
  await expect(compareFiles(root, texts(5))).rejects.toMatchObject({ code: 'import_changed' });
  return disk.count() > at;
}

it.each([0, 2, 3])(
  'goes on after an import that was killed before any of its writes, and one that was killed before write %i, and still knows what people have changed',
  async (later) => {
    let at = 0;
    while (await importKilledAt(at, later)) at += 1;
    expect(at).toBeGreaterThan(6);
  },
);
