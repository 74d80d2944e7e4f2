import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadPlugins, shippedPluginFolder } from '../../src/plugin/loader.js';
import { attempt, folderWith, pluginsOf } from './attempt.js';

const shipped = [
  'chat-message',
  'fail',
  'http-request',
  'jsonata',
  'mail-sendmail',
  'mail-smtp',
  'noop',
  's3-get',
  's3-upload',
  'script',
  'set',
  'sftp-upload',
  'shell',
  'sql-query',
  'stripe-charge',
  'templater',
  'webhook',
  'worker',
];

describe('loadPlugins', () => {
  it('finds the shipped plugins, each with a description', async () => {
    const { registry, said } = await pluginsOf();
    expect(registry.names()).toEqual(shipped);
    expect(
      registry.list().every(({ description, state }) => description && state === 'ready'),
    ).toBe(true);
    expect(said).toEqual([]);
  });

  it('takes ES modules and CommonJS, files and folders', async () => {
    const { registry } = await pluginsOf({
      'a.mjs': 'export default () => "a";',
      'b.cjs': 'module.exports = async () => "b";',
      'c.js': 'exports.default = () => "c";',
      'e.js': 'export default () => "e";',
      'd/index.mjs': 'export const description = "of d"; export default () => "d";',
    });
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      expect(await attempt(registry, name)).toMatchObject({ kind: 'done', result: name });
    }
    expect(registry.list().find(({ name }) => name === 'd')?.description).toBe('of d');
  });

  it('ignores private names, other extensions and folders without an index', async () => {
    const { registry } = await pluginsOf({
      '_private.mjs': 'export default () => 1;',
      '.hidden.mjs': 'export default () => 1;',
      'types.d.ts': 'export {};',
      'types.d.mts': 'export {};',
      'notes.txt': 'x',
      'README.md': 'x',
      'folder/other.js': 'x',
    });
    expect(registry.names()).toEqual(shipped);
  });

  it('prefers a plugin of the project to the shipped one of that name', async () => {
    const { registry } = await pluginsOf({ 'noop.mjs': 'export default () => "mine";' });
    expect(await attempt(registry, 'noop')).toMatchObject({ result: 'mine' });
  });

  it('holds nothing but the shipped plugins where there is no folder', async () => {
    const registry = await loadPlugins({ folders: ['/no/such/folder'], log: () => undefined });
    expect(registry.names()).toEqual(shipped);
  });

  it('does not mind being given the shipped folder as well', async () => {
    const folders = [folderWith(), shippedPluginFolder()];
    const registry = await loadPlugins({ folders, log: () => undefined });
    expect(registry.names()).toEqual(shipped);
  });

  it('tells the hash of a folder, of all code in it', async () => {
    const files = { 'a/index.js': 'module.exports = require("./b");', 'a/b/index.js': 'x = 1' };
    const other = { ...files, 'a/b/index.js': 'x = 2' };
    const ignored = { ...files, 'a/node_modules/c/index.js': '', 'a/.cache': '' };
    const hashes = await Promise.all(
      [files, other, ignored].map(async (given) => {
        const { registry } = await pluginsOf({
          ...given,
          'a/index.js': 'module.exports = async () => 1;',
        });
        return registry.get('a')?.hash;
      }),
    );
    expect(hashes[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(hashes[1]).not.toBe(hashes[0]);
    expect(hashes[2]).toBe(hashes[0]);
  });

  it('tells the hash of the file', async () => {
    const text = 'export default () => 1;';
    const { registry } = await pluginsOf({ 'a.mjs': text });
    const hash = createHash('sha256').update(text).digest('hex');
    expect(registry.get('a')?.hash).toBe(`sha256:${hash}`);
  });
});

describe('a broken plugin', () => {
  it.each([
    ['does not parse', 'x.cjs', 'module.exports = (', 'Unexpected'],
    ['throws', 'x.mjs', 'throw new Error("no luck");', 'no luck'],
    ['throws no error', 'x.mjs', 'throw 7;', '7'],
    [
      'imports what is not there',
      'x.mjs',
      'import "no-such-package"; export default 1;',
      'no-such-package',
    ],
    ['exports nothing', 'x.mjs', '', 'it exports no function to call (it exports nothing)'],
    ['exports no function', 'x.cjs', 'module.exports = { run() {} };', '(it exports run)'],
    [
      'takes three parameters',
      'x.cjs',
      'module.exports = (job, step, params) => 1;',
      'of 3 parameters',
    ],
    [
      'has a wrong schema',
      'x.mjs',
      'export const params = {type: "nonsense"}; export default () => 1;',
      'schema is invalid',
    ],
    [
      'has no schema',
      'x.mjs',
      'export const params = 3; export default () => 1;',
      'its export params must be a JSON Schema',
    ],
    [
      'has wrong templates',
      'x.mjs',
      'export const templates = "a"; export default () => 1;',
      'its export templates must be',
    ],
    [
      'has a wrong isolate',
      'x.mjs',
      'export const isolate = "moon"; export default () => 1;',
      'its export isolate must be',
    ],
  ])('that %s is listed, reported once and stops nothing', async (_title, file, text, problem) => {
    const { registry, said } = await pluginsOf({ [file]: text });
    const line = registry.list().find(({ name }) => name === 'x');
    expect(line?.state).toBe('broken');
    expect(line?.problem).toContain('Plugin x (');
    expect(line?.problem).toContain(problem);
    expect(registry.get('x')).toBeUndefined();
    expect(registry.names()).toEqual(shipped);
    expect(said).toEqual([{ message: line?.problem, data: { plugin: 'x', file: line?.file } }]);
  });

  it('hides the shipped one of its name rather than being replaced in silence', async () => {
    const { registry } = await pluginsOf({ 'noop.mjs': 'throw new Error("no");' });
    expect(registry.get('noop')).toBeUndefined();
  });
});

describe('init', () => {
  it('runs once, before the first call', async () => {
    const { registry } = await pluginsOf({
      'a.mjs': 'let n = 0; export const init = () => { n += 1; }; export default () => n;',
    });
    const results = await Promise.all([attempt(registry, 'a'), attempt(registry, 'a')]);
    expect(results).toMatchObject([{ result: 1 }, { result: 1 }]);
  });

  // Shows C-16.
  it('fails the step and takes the plugin out of service when it fails', async () => {
    const { registry, said } = await pluginsOf({
      'a.mjs':
        'export const init = async () => { throw new Error("no disk"); }; export default () => 1;',
    });
    expect(registry.names()).toContain('a');
    const message = 'Plugin a cannot be used, because its init() failed: no disk';
    expect(await attempt(registry, 'a')).toMatchObject({
      kind: 'failed',
      failure: { name: 'PluginInitFailed', message },
    });
    expect(registry.names()).not.toContain('a');
    expect(registry.list().find(({ name }) => name === 'a')).toMatchObject({
      state: 'broken',
      problem: message,
    });
    expect(said).toMatchObject([{ message }]);
  });
});
