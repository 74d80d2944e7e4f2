import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toJsonPath } from '../../src/model/problems.js';
import { findingsOf, withoutDoubles } from '../../src/pages/editor/marks.js';
import { spanAt } from '../../src/pages/editor/places.js';
import { parseJsonText } from '../../src/pages/editor/read-json.js';
import { secretPlaces } from '../../src/pages/editor/secret-places.js';

const text = `{
  "name": "f",
  "tasks": ["a", {"task": "b", "params": {"to": ["x", "y"], "a b": 1, "c.d": {"e": 2}}}],
  "params": {"b-1": {}, "7": true}
}`;

function shown(path: string): string {
  const { from, to } = spanAt(parseJsonText(text).tree, path);
  return text.slice(from, to);
}

describe('the place of a path', () => {
  it.each([
    ['name', '"f"'],
    ['tasks[0]', '"a"'],
    ['tasks[1].params.to[1]', '"y"'],
    ['tasks.sequence[1].task', '"b"'],
    ['tasks[1].params["a b"]', '1'],
    ['tasks[1].params.a b', '1'],
    ['tasks[1].params.c.d.e', '2'],
    ['tasks[1].params["c.d"].e', '2'],
    ['params.b-1', '{}'],
    ['params[7]', 'true'],
  ])('of %s is %s', (path, value) => {
    expect(shown(path)).toBe(path === 'params[7]' ? '"params"' : value);
  });

  it.each([
    ['owner', '{'],
    ['tasks[1].nix', '{'],
    ['tasks[9]', '"tasks"'],
    ['tasks[1].params.to[5]', '"to"'],
    ['name.inner', '"name"'],
    ['', text],
  ])('that is missing, %s, is the key of what is around it', (path, value) => {
    expect(shown(path)).toBe(value);
  });

  it('is found for every path that the checks write', () => {
    const key = fc.string({ minLength: 1 }).filter((one) => one !== '__proto__');
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.integer(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.stringMatching(/^[a-z_]\w*$/), tie('value'), { maxKeys: 3 }),
        fc.dictionary(key, fc.integer(), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]\w*$/), json, { minKeys: 1 }),
        (document) => {
          const written = JSON.stringify(document, null, 2);
          const { tree } = parseJsonText(written);
          for (const { path, value } of everything(document, [])) {
            const { from, to } = spanAt(tree, toJsonPath(path));
            expect(JSON.parse(written.slice(from, to))).toEqual(value);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});

type Part = { readonly path: readonly (string | number)[]; readonly value: unknown };

function everything(value: unknown, path: Part['path']): readonly Part[] {
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  const parts = Array.isArray(value)
    ? value.map((item, i) => [i, item as unknown] as const)
    : Object.entries(value);
  return [{ path, value }, ...parts.flatMap(([key, item]) => everything(item, [...path, key]))];
}

describe('findings', () => {
  it('stand where they belong, each once, from top to bottom', () => {
    const found = findingsOf(text, {
      problems: [{ path: 'tasks[1].task', message: 'No such task.' }],
      warnings: [
        { path: 'name', message: 'Odd.' },
        { path: 'name', message: 'Odd.' },
      ],
    });
    expect(withoutDoubles(found).map(({ severity, path }) => [severity, path])).toEqual([
      ['warning', 'name'],
      ['error', 'tasks[1].task'],
    ]);
  });
});

describe('secrets in a text', () => {
  it('are found by what they are, and nothing else is', () => {
    const document = {
      pass: 'tws:v1:AAAA',
      enc: { $enc: 'tws:v1:BBBB' },
      token: '[secret]',
      url: 'https://[secret]@host/',
      list: ['[secret]'],
      'tws:v1:key': 'a word about [secret] things',
    };
    const written = JSON.stringify(document);
    const places = secretPlaces(parseJsonText(written).tree);
    expect(places.map(({ from, to, kind }) => [written.slice(from, to), kind])).toEqual([
      ['"tws:v1:AAAA"', 'encrypted'],
      ['{"$enc":"tws:v1:BBBB"}', 'encrypted'],
      ['"[secret]"', 'hidden'],
      ['"https://[secret]@host/"', 'hidden'],
      ['"[secret]"', 'hidden'],
    ]);
  });
});
