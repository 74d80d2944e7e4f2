import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { TwsError } from '../../src/errors.js';
import { pluginFolders } from '../../src/config/plugin-folders.js';

const root = mkdtempSync(join(tmpdir(), 'tws-folders-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const packages = join(root, 'node_modules');
for (const [name, facts, folder] of [
  ['@acme/tws-plugins', {}, 'plugins'],
  ['own', { tws: { plugins: 'dist/steps' } }, 'dist/steps'],
  ['@acme/empty', {}, 'lib'],
  ['local', {}, 'plugins'],
] as const) {
  mkdirSync(join(packages, name, folder), { recursive: true });
  writeFileSync(join(packages, name, 'package.json'), JSON.stringify(facts));
}
mkdirSync(join(root, 'local'));

describe('the folders of plugins', () => {
  it.each([
    ['plugins', join(root, 'plugins')],
    ['./elsewhere', join(root, 'elsewhere')],
    ['/opt/plugins', '/opt/plugins'],
    ['@acme/tws-plugins', join(packages, '@acme/tws-plugins/plugins')],
    ['own', join(packages, 'own/dist/steps')],
    ['local', join(root, 'local')],
  ])('of %s is %s', (entry, folder) => {
    expect(pluginFolders(root, [entry], 'tws.json')).toEqual([folder]);
  });

  it('is a package of a folder above as well', () => {
    expect(pluginFolders(join(root, 'a', 'b'), ['own'], 'tws.json')).toEqual([
      join(packages, 'own/dist/steps'),
    ]);
  });

  it.each([
    [
      '@acme/nix',
      'neither a folder nor an installed package "@acme/nix"; run npm install @acme/nix.',
    ],
    ['nix', 'neither a folder nor an installed package "nix"; run npm install nix.'],
    ['@acme/empty', 'the package "@acme/empty" holds no plugins: there is no '],
  ])('refuses %s: %s', (entry, reason) => {
    expect(() => pluginFolders(root, [entry], 'tws.json')).toThrow(reason);
  });

  it('says what to do about a package that is missing, or a folder that is to be made', () => {
    let thrown: unknown;
    try {
      pluginFolders(root, ['nix'], 'tws.json');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'plugins_missing', exit: 78 });
    expect((thrown as TwsError).hint).toContain('write ./ before its name');
    expect(pluginFolders(root, ['./nix'], 'tws.json')).toEqual([join(root, 'nix')]);
  });
});
