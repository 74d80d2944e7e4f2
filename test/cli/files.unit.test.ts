import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contentHash, findFiles, readJsonText } from '../../src/cli/files.js';
import { packageRoot } from '../../src/package.js';
import { isShipped, resolvePath, shellWord, shownPath } from '../../src/cli/paths.js';
import { shippedFolder } from '../../src/validate/samples.js';
import { jsonSchemas } from '../../src/cli/schemas.js';
import { withId } from '../../src/cli/write-back.js';
import { project, task } from './terminal.js';

describe('paths that begin with ~tws', () => {
  it('are the samples where a project has no couch/tws', async () => {
    const root = await project();
    const place = { cwd: root, root };
    expect(resolvePath('~tws/tasks/mail.json', place)).toBe(
      join(shippedFolder(), 'tasks', 'mail.json'),
    );
    expect(shownPath(join(shippedFolder(), 'tasks', 'mail.json'), place)).toBe(
      '~tws/tasks/mail.json',
    );
  });

  it('are the files of the project, and of the samples only single files', async () => {
    const root = await project({ 'couch/tws/tasks/own.json': task('own') });
    const place = { cwd: '/', root };
    const own = join(root, 'couch', 'tws');
    expect(resolvePath('~tws', place)).toBe(own);
    expect(resolvePath('~tws/tasks/own.json', place)).toBe(join(own, 'tasks', 'own.json'));
    expect(resolvePath('~tws/jobs', place)).toBe(join(own, 'jobs'));
    expect(isShipped(resolvePath('~tws/jobs/mailtest.json', place))).toBe(true);
    expect(isShipped(join(own, 'tasks', 'own.json'))).toBe(false);
  });
});

it.each([
  ['/opt/tws-1.2/@acme', '/opt/tws-1.2/@acme'],
  ['/home/ann b/tws', "'/home/ann b/tws'"],
  ["it's $1", `'it'\\''s $1'`],
])('a path is quoted for the shell where it has to be: %s', (path, word) => {
  expect(shellWord(path)).toBe(word);
});

describe('findFiles', () => {
  it('goes through folders, leaves out what begins with _ and what is no JSON', async () => {
    const root = await project({
      'd/b.json': {},
      'd/a/c.json': {},
      'd/_x.json': {},
      'd/readme.md': '',
      'd/.hidden.json': {},
    });
    const found = await findFiles(['d'], { cwd: root, root });
    expect(found.files.map(({ shown }) => shown)).toEqual(['d/a/c.json', 'd/b.json']);
    expect(found.ignored).toEqual(['d/_x.json']);
  });

  it('says which path is not there', async () => {
    const root = await project();
    await expect(findFiles(['nix.json'], { cwd: root, root })).rejects.toMatchObject({
      code: 'file_missing',
      exit: 4,
    });
  });
});

describe('readJsonText', () => {
  const file = { path: '/f.json', shown: 'f.json', named: true };
  it.each([
    ['{\n  "a": 1,\n  "b" 2\n}', 'line 3, column 7'],
    ['{"a": 1,}', 'line 1, column 9'],
    ['{ // no\n}', 'line 1, column 3'],
    ['', 'line 1, column 1'],
  ])('tells where %j is no JSON', (text, place) => {
    expect(readJsonText(text, file)).toMatchObject({ ok: false, problem: { path: place } });
  });

  it('wants an object', () => {
    expect(readJsonText('[1]', file)).toMatchObject({ ok: false });
  });
});

describe('withId', () => {
  it.each([
    ['{\n    "type": "task",\n    "a": [1,2,   3]\n}\n'],
    ['{\n\t"type": "task"\n}'],
    ['{\r\n  "type": "task"\r\n}\r\n'],
    ['{"type": "task"}'],
    ['{}'],
  ])('puts the id first and keeps the rest of %j as it is', (text) => {
    const written = withId(text, 'task:x');
    expect(JSON.parse(written)).toEqual({ _id: 'task:x', ...(JSON.parse(text) as object) });
    expect(Object.keys(JSON.parse(written) as object)[0]).toBe('_id');
    for (const line of text.split('\n').slice(1)) expect(written).toContain(line);
  });

  it.each([
    ['{"type":"task"}', '{"_id":"x","type":"task"}'],
    ['{"type": "task", "a": {"b":  1}}', '{"_id": "x", "type": "task", "a": {"b":  1}}'],
    ['{ "type": "task" }\n', '{ "_id": "x", "type": "task" }\n'],
    ['\uFEFF{\n  "a\\"": 1\n}', '\uFEFF{\n  "_id": "x",\n  "a\\"": 1\n}'],
  ])('writes %j in its own style', (text, expected) => {
    expect(withId(text, 'x')).toBe(expected);
  });
});

describe('contentHash', () => {
  // Shows A-08.
  it('knows no order of keys, no _id, _rev and $schema', () => {
    const one = contentHash({
      _id: 'a',
      _rev: '1-a',
      $schema: 'x',
      type: 'task',
      p: { a: 1, b: [1] },
    });
    expect(contentHash({ p: { b: [1], a: 1 }, type: 'task' })).toBe(one);
    expect(contentHash({ p: { b: [2], a: 1 }, type: 'task' })).not.toBe(one);
  });
});

describe('the JSON Schemas', () => {
  const texts = Object.entries(jsonSchemas());

  it.each(texts)('in couch/schemas are those of the last build: %s', async (name, text) => {
    expect(await readFile(join(packageRoot(), 'couch', 'schemas', name), 'utf8')).toBe(text);
  });

  it.each(texts)('hold each kind of node once, and refer to it by name: %s', (_name, text) => {
    const { definitions = {} } = JSON.parse(text) as { readonly definitions?: object };
    expect(Object.keys(definitions).filter((name) => name.startsWith('__'))).toEqual([]);
    const names = ['Node', 'Task', 'Wait', 'Sequence', 'Map', 'GraphNode'];
    if ('Tasks' in definitions)
      expect(Object.keys(definitions)).toEqual(expect.arrayContaining(names));
  });
});
