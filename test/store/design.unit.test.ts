import { expect, test } from 'vitest';
import { compareDesign, mergeDesign } from '../../src/store/design.js';
import { readDesign, toFunctionText } from '../../src/store/design-source.js';
import { searchViewNames, viewNames } from '../../src/store/views.js';
import { compileDesign } from './design-function.js';

const source = await readDesign();
const search = await readDesign('search');
const guard = await readDesign('guard');
const texts = [
  ...Object.entries({ ...source.views, ...search.views }).map(
    ([name, { map }]) => [name, map] as const,
  ),
  ...Object.entries(source.filters),
  ['validate_doc_update', guard.validate_doc_update ?? ''] as const,
];

test('the folders hold the views that the program knows', () => {
  const views = { ...source.views, ...search.views };
  expect(Object.keys(views).sort()).toEqual([...viewNames].sort());
  expect(Object.keys(search.views).sort()).toEqual([...searchViewNames].sort());
});

test('a view that lost its reduce is renewed', () => {
  const { figures } = search.views;
  expect(compareDesign({ views: { figures } }, search)).toMatchObject({ figures: 'unchanged' });
  const bare = { views: { figures: { map: figures?.map } } };
  expect(compareDesign(bare, search)).toMatchObject({ figures: 'updated' });
  expect(mergeDesign(bare, search).views).toMatchObject({ figures: { reduce: '_stats' } });
});

test.each(texts)('%s is an unnamed function in ECMAScript 5', (_name, text) => {
  expect(text).toMatch(/^function \(\w+(, \w+)*\) \{/);
  expect(text).toMatch(/\}$/);
  expect(compileDesign<unknown>(text)).toBeTypeOf('function');
  // A comma before ")" and these words are newer than the engine of older CouchDBs.
  expect(text).not.toMatch(/,\s*\)|=>|`|\b(let|const|class)\b/);
});

test('comments and the name of the function stay in the file', () => {
  expect(toFunctionText('/* function of\n * something */\nfunction map(doc) {\n  x();\n}\n')).toBe(
    'function (doc) {\n  x();\n}',
  );
  expect(toFunctionText('export default function map(doc) {\n  x();\n}\n')).toBe(
    'function (doc) {\n  x();\n}',
  );
  expect(() => toFunctionText('// nothing')).toThrow('no function');
});

test('what a user added to the design document stays', () => {
  const stored = {
    _rev: '3-x',
    views: {
      mine: { map: 'function (doc) { emit(1); }' },
      jobs: { map: 'old', reduce: '_count' },
      flows: source.views['flows'],
    },
    filters: { mine: 'function () {}' },
    updates: { mine: 'function () {}' },
  };
  expect(mergeDesign(stored, source)).toEqual({
    _rev: '3-x',
    language: 'javascript',
    updates: stored.updates,
    views: {
      ...source.views,
      mine: stored.views.mine,
      jobs: { ...source.views['jobs'], reduce: '_count' },
    },
    filters: { ...source.filters, mine: stored.filters.mine },
  });
  expect(compareDesign(stored, source)).toMatchObject({
    jobs: 'updated',
    flows: 'unchanged',
    tasks: 'inserted',
  });
});
