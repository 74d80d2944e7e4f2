import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { flowSchema } from '../../src/reading/documents.js';
import { settingsFileSchema } from '../../src/config/file.js';
import { isObject } from '../../src/model/object.js';
import { retryPolicySchema } from '../../src/model/retry.js';
import { parseDocument } from '../../src/reading/parse.js';
import { createTestContext } from '../../src/plugin/testing.js';
import { testFileSchema } from '../../src/testing/cases.js';
import { checkDocument, kinds } from '../../src/validate/document.js';
import { blocksIn, textOf, type Block } from './pages.js';

const place = ({ page, line }: Block): string => `${page}:${line}`;

/** Documents that stand in commands, between quotes: `-d '{ … }'`, and between `<<'JSON'` and `JSON`. */
function documentsIn({ text }: Block): readonly string[] {
  const quoted = [...text.matchAll(/'(\{[^']*"type": "(?:task|flow|job)"[^']*\})'/g)];
  const files = [...text.matchAll(/<<'JSON'\n([^]*?)\nJSON$/gm)];
  return [...quoted, ...files].map(([, json = '']) => json);
}

/** What is wrong with a document, or with a part of one. */
function mistakesIn(doc: unknown): readonly unknown[] {
  if (!isObject(doc)) return ['It is no object.'];
  if (kinds.some((kind) => kind === doc['type'])) return checkDocument('docs', doc);
  if (typeof doc['type'] === 'string') {
    const parsed = parseDocument({ _id: 'docs', _rev: '1-0', ...doc });
    return parsed.kind === 'other' || parsed.ok ? [] : parsed.problems;
  }
  if ('cases' in doc) return testFileSchema.safeParse(doc).error?.issues ?? [];
  if ('errors' in doc) return flowSchema.shape.errors.safeParse(doc['errors']).error?.issues ?? [];
  if ('limit' in doc) return retryPolicySchema.safeParse(doc).error?.issues ?? [];
  return settingsFileSchema.safeParse(doc).error?.issues ?? [];
}

describe('the documents in README and docs', () => {
  it.each(blocksIn('json').map((block) => [place(block), block] as const))(
    'are valid where they stand alone (%s)',
    (_place, { text }) => {
      expect(mistakesIn(JSON.parse(text))).toEqual([]);
    },
  );

  const inCommands = blocksIn('sh').flatMap((block) =>
    documentsIn(block).map((json, i) => [`${place(block)}, ${i}`, json] as const),
  );
  it.each(inCommands)('are valid where they stand in commands (%s)', (_place, json) => {
    expect(mistakesIn(JSON.parse(json))).toEqual([]);
  });

  it('are found at all', () => {
    expect(inCommands.length).toBeGreaterThan(8);
  });
});

it.each(blocksIn('js').map((block) => [place(block), block] as const))(
  'the JavaScript of %s can be read',
  (_place, { text }) => {
    const { diagnostics } = ts.transpileModule(text, {
      reportDiagnostics: true,
      fileName: 'docs.mjs',
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ESNext },
    });
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
  },
);

it('the guide to plugins has a row for each key of the context, and for nothing else', () => {
  const failure = { name: 'E', message: '', code: null, kind: null, step: null, exit: 2 };
  const { context } = createTestContext({
    ...{ item: 1, history: [], failure: { ...failure, attempt: null } },
  });
  const [, table = ''] = textOf('docs/guides/plugins.md').split(
    'The context that it is called with:',
  );
  const [rows = ''] = table.trim().split('\n\n');
  const named = rows
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)/g)].map(([, name]) => name));
  expect(named.toSorted()).toEqual(Object.keys(context).toSorted());
});
