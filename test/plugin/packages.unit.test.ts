import { describe, expect, it } from 'vitest';
import { loadPackage } from '../../src/plugin/packages.js';
import { folderWith } from './attempt.js';

describe('loadPackage', () => {
  it('takes the package of the project before the one of tws', async () => {
    const folder = folderWith({
      'package.json': '{}',
      'node_modules/nodemailer/package.json': '{"main":"m.js"}',
      'node_modules/nodemailer/m.js': 'module.exports = { mine: true };',
    });
    expect(await loadPackage('nodemailer', 'mail-smtp', folder)).toEqual({ mine: true });
  });

  it('takes the one that is installed with tws where the project has none', async () => {
    const loaded = await loadPackage<{ compile: unknown }>('handlebars', 'x', folderWith());
    expect(loaded.compile).toBeTypeOf('function');
  });

  it('says what to install where, and that trying again does not help', async () => {
    const folder = folderWith();
    await expect(loadPackage('no-such-package', 'mail-smtp', folder)).rejects.toMatchObject({
      name: 'MissingPackage',
      message: `Plugin mail-smtp needs the package no-such-package: run "npm install no-such-package" in ${folder}.`,
      retryable: false,
    });
  });

  it('tells a package that is there, but broken, from a missing one', async () => {
    const folder = folderWith({
      'node_modules/broken/package.json': '{"main":"m.js"}',
      'node_modules/broken/m.js': 'require("its-own-missing-part");',
    });
    await expect(loadPackage('broken', 'x', folder)).rejects.toMatchObject({
      name: 'PackageBroken',
      message: expect.stringContaining('its-own-missing-part') as string,
    });
  });
});
