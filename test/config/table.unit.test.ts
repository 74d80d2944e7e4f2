import { expect, it } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../../src/config/load.js';
import { settingsFileSchema } from '../../src/config/file.js';
import { flagsIn } from '../../src/config/flags.js';
import { credentialVariables, optionOf, settings, type Setting } from '../../src/config/table.js';

type Json = { readonly properties?: Readonly<Record<string, Json>> };

/** Paths of a schema, down to the settings of the table. */
function pathsIn({ properties = {} }: Json, above = ''): readonly string[] {
  return Object.entries(properties).flatMap(([key, inner]) => {
    const path = above === '' ? key : `${above}.${key}`;
    return inner.properties === undefined || path in settings ? [path] : pathsIn(inner, path);
  });
}

it('holds every setting of tws.json', () => {
  const schema = z.toJSONSchema(settingsFileSchema, { io: 'input', unrepresentable: 'any' });
  const paths = pathsIn(schema as Json).filter((path) => path !== '$schema');
  expect(paths.toSorted()).toEqual(Object.keys(settings).toSorted());
});

it('names the variables that plugins must not find', () => {
  const wanted = ['COUCH_KEY', 'COUCH_PASS', 'COUCH_URL', 'TWS_CRYPTO_KEY'];
  expect(credentialVariables.toSorted()).toEqual(wanted);
});

it('gives every setting a source', () => {
  const { origins, shown } = loadConfig({ flags: {}, env: {}, cwd: '/' });
  const rows: readonly (readonly [string, Setting])[] = Object.entries(settings);
  for (const [name, { show, shownAs }] of rows) {
    if (show !== 'never') expect(origins).toHaveProperty([shownAs ?? name]);
  }
  expect(Object.keys(shown)).toEqual(Object.keys(origins));
});

it('reads options as their form says', () => {
  const given = { url: 'db', slots: '3', labels: 'a, b,', port: '0', json: true, http: true };
  expect(flagsIn(given)).toEqual({ url: 'db', slots: 3, labels: ['a', 'b'], port: 0 });
});

it('makes the option of a setting', () => {
  expect(optionOf('database')).toEqual({
    flags: '--database <name>',
    about: 'Name of the database (or COUCH_DATABASE); default <project>_tasks.',
  });
});
