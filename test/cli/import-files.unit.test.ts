import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareFiles, writeFiles } from '../../src/cli/import-files.js';
import { dying } from './dying-disk.js';
import { project } from './terminal.js';

const names = ['plugins/a.js', 'couch/tws/tasks/a.json', 'couch/tws/tasks/b.json'];
const texts = (edition: number) => new Map(names.map((name) => [name, `${name} ${edition}`]));

/** Two editions are imported, the second import dies; resolves with whether it did. */
async function importKilledAt(at: number): Promise<boolean> {
  const root = await project({});
  const imported = async (edition: number, disk = dying(Infinity)): Promise<void> => {
    const files = texts(edition);
    await writeFiles(root, files, await compareFiles(root, files), disk);
  };
  await imported(1);
  const disk = dying(at);
  await imported(2, disk).catch((error: unknown) =>
    expect(error).toMatchObject({ message: 'killed' }),
  );
  // The import goes on with what is newer by now; nothing that it wrote counts as an edit.
  await imported(3);
  for (const name of names) expect(await readFile(join(root, name), 'utf8')).toBe(`${name} 3`);
  await writeFile(join(root, 'plugins/a.js'), 'edited');
  await expect(compareFiles(root, texts(4))).rejects.toMatchObject({ code: 'import_changed' });
  return disk.count() > at;
}

it('goes on after an import that was killed before any of its writes, and still knows what people have changed', async () => {
  let at = 0;
  while (await importKilledAt(at)) at += 1;
  expect(at).toBeGreaterThan(6);
});
