import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failureNames } from '../../src/model/failures.js';
import { pluginFailureNames } from '../../src/plugin/failures.js';

const root = new URL('../../', import.meta.url);

/** The sources below a folder of the project. */
function sourcesIn(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(`${folder}/${file}`, root), 'utf8'));
}

/** Names that a source gives to failures: `{ name: 'X' … }`, also by a condition or as the default. */
function namesIn(source: string): readonly string[] {
  return [...source.matchAll(/\bname(?: =|:) ([^;,}]*)/g)].flatMap(([, given = '']) =>
    [...given.matchAll(/'((?:[A-Z][a-z]+)+[A-Za-z]*)'/g)].map(([, name = '']) => name),
  );
}

/** First cells of the table under a heading. */
function rowsUnder(heading: string): readonly string[] {
  const text = readFileSync(new URL('src/plugin/README.md', root), 'utf8');
  const [, section = ''] = text.split(`### ${heading}\n`);
  const [table = ''] = section.split(/^#+ /m);
  return [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);
}

/** Of DOM errors that only a plugin sees, as the reason of its signal. */
const ofSignals = ['AbortError', 'TimeoutError'];

describe('the names of failures', () => {
  it('are documented, those of plugins and of the loader', () => {
    const names = ['src/plugin', 'plugins'].flatMap(sourcesIn).flatMap(namesIn);
    const written = [...names, ...pluginFailureNames].filter((name) => !ofSignals.includes(name));
    expect(names.length).toBeGreaterThan(10);
    expect(rowsUnder('Names of failures').toSorted()).toEqual([...new Set(written)].toSorted());
  });

  it('are in the table of failures, those that the engine gives', () => {
    const names = ['src/engine', 'src/decide'].flatMap(sourcesIn).flatMap(namesIn);
    const strays = names.filter((name) => ![...failureNames, ...ofSignals].includes(name));
    expect(strays).toEqual([]);
  });
});
