import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { watchFolder } from '../../src/cli/watch-folder.js';

function watched(...path: readonly string[]) {
  const root = mkdtempSync(join(tmpdir(), 'tws-watch-'));
  const folder = resolve(root, ...path);
  let changes = 0;
  const troubles: unknown[] = [];
  const end = watchFolder(folder, {
    onChange: () => (changes += 1),
    onTrouble: (error) => troubles.push(error),
  });
  onTestFinished(() => {
    end();
    rmSync(root, { recursive: true, force: true });
  });
  /** Does it, and waits until a change is heard. */
  const hears = async (act: () => void): Promise<void> => {
    const before = changes;
    act();
    await expect.poll(() => changes).toBeGreaterThan(before);
  };
  return { root, folder, hears, end, changes: () => changes, troubles };
}

describe('a watched folder', () => {
  it('is watched from the moment when it is made, with the folders above it', async () => {
    const { folder, hears, troubles } = watched('a', 'plugins');
    await hears(() => mkdirSync(folder, { recursive: true }));
    await hears(() => writeFileSync(join(folder, 'x.mjs'), ''));
    await hears(() => mkdirSync(join(folder, 'sub')));
    expect(troubles).toEqual([]);
  });

  it('is watched again when it was removed and made anew', async () => {
    const { root, folder, hears } = watched('plugins');
    await hears(() => mkdirSync(folder));
    await hears(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(root, 'other'), '');
    await hears(() => mkdirSync(folder));
    await hears(() => writeFileSync(join(folder, 'x.mjs'), ''));
  });

  it('is not watched any more after its end', async () => {
    const { folder, hears, end, changes } = watched('plugins');
    await hears(() => mkdirSync(folder));
    end();
    const before = changes();
    const other = watched(folder);
    await other.hears(() => writeFileSync(join(folder, 'x.mjs'), ''));
    expect(changes()).toBe(before);
  });
});
