import { mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { projectFile, readProjectFile } from '../../src/plugin/files.js';
import { folderWith } from './attempt.js';

afterEach(() => {
  delete process.env['TWS_FILES'];
});

/** A project of these files, under its real path. */
const project = (files: Readonly<Record<string, string>> = {}): string =>
  realpathSync(folderWith(files));

describe('a file that a job names', () => {
  it.each(['a.txt', 'none.txt', 'a/../b/c.txt', 'a..b/c', 'deep/none/at/all.txt'])(
    'is found inside the project: %s',
    (path) => {
      const cwd = project({ 'a.txt': '' });
      expect(projectFile(cwd, path)).toBe(join(cwd, path));
      expect(projectFile(cwd, join(cwd, path))).toBe(join(cwd, path));
    },
  );

  it.each(['../a.txt', 'a/../../b.txt', '..', '/etc/hosts', '/'])(
    'is refused outside of it: %s',
    (path) => {
      const cwd = project();
      expect(() => projectFile(cwd, path)).toThrow(
        `The file "${path}" is outside the project ${cwd} and the folders named in TWS_FILES.`,
      );
    },
  );

  it.each(['.env', '.tws/embedded.json', 'a/.git/config', 'tws.json', 'a/../tws.json', '..x'])(
    'is refused where settings are: %s',
    (path) => {
      expect(() => projectFile(project(), path)).toThrow(
        `The file "${path}" is not for jobs: names that begin with a dot, and tws.json, hold settings.`,
      );
    },
  );

  it('counts as what a link leads to', async () => {
    const cwd = project({ 'inside/a.txt': 'A' });
    const outside = project({ 'secret.txt': 'S' });
    symlinkSync(outside, join(cwd, 'way-out'));
    symlinkSync(join(cwd, 'inside'), join(cwd, 'way-in'));
    expect(() => projectFile(cwd, 'way-out/secret.txt')).toThrow('is outside the project');
    expect(() => projectFile(cwd, 'way-out/none.txt')).toThrow('is outside the project');
    expect((await readProjectFile(cwd, 'way-in/a.txt')).toString()).toBe('A');
  });

  it('is found in a project that is a link itself', async () => {
    const cwd = project({ 'a.txt': 'A' });
    const link = join(project(), 'link');
    symlinkSync(cwd, link);
    expect((await readProjectFile(link, 'a.txt')).toString()).toBe('A');
  });

  it('may be in a folder that the operator names', async () => {
    const [cwd, further, other] = [project(), project({ '.x/a.txt': 'A' }), project()];
    mkdirSync(join(other, 'sub'));
    process.env['TWS_FILES'] = ['relative', further, join(other, 'sub')].join(':');
    expect((await readProjectFile(cwd, join(further, '.x/a.txt'))).toString()).toBe('A');
    expect(projectFile(cwd, join(other, 'sub/b.txt'))).toBe(join(other, 'sub/b.txt'));
    expect(() => projectFile(cwd, join(other, 'b.txt'))).toThrow('is outside the project');
  });

  it('says why it cannot be read', async () => {
    await expect(readProjectFile(project(), 'none.txt')).rejects.toMatchObject({
      name: 'FileUnreadable',
      message: 'The file "none.txt" cannot be read (ENOENT).',
    });
  });
});
