import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/package.js';
import { loadPlugins } from '../../src/plugin/loader.js';
import type { PluginChanges } from '../../src/plugin/reload.js';
import { attempt, folderWith, type Said } from './attempt.js';

async function watched(files: Readonly<Record<string, string>>) {
  const folder = folderWith(files);
  const said: Said[] = [];
  const log = (message: string, data?: unknown): void => void said.push({ message, data });
  const registry = await loadPlugins({ folders: [folder], log, watched: true });
  const heard: PluginChanges[] = [];
  registry.onReload((changes) => void heard.push(changes));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const resultOf = async (name: string): Promise<unknown> => {
    const outcome = await attempt(registry, name);
    return outcome.kind === 'done' ? outcome.result : outcome;
  };
  return { folder, registry, said, heard, write, resultOf };
}

const execute = promisify(execFile);
/** From the last build: `npm test` makes one. */
const built = pathToFileURL(join(packageRoot(), 'dist', 'src', 'index.js')).href;

const none = { loaded: [], removed: [], broken: [] };

describe('a reload of plugins', () => {
  it('loads again what has changed, and nothing else', async () => {
    const { registry, write, resultOf, heard } = await watched({
      'a.mjs': 'export default () => 1;',
      'b.mjs': 'const made = {}; export default () => 1; export const params = {};',
      'c.cjs': 'module.exports = async () => 1;',
    });
    const [a, b] = [registry.get('a'), registry.get('b')];
    expect(await registry.reload()).toEqual(none);
    write('a.mjs', 'export default () => 2;');
    write('c.cjs', 'module.exports = async () => 2;');
    expect(await registry.reload()).toEqual({ ...none, loaded: ['a', 'c'] });
    expect([await resultOf('a'), await resultOf('c')]).toEqual([2, 2]);
    expect(registry.get('b')).toBe(b);
    expect(registry.get('a')?.hash).not.toBe(a?.hash);
    // An attempt that runs has the edition that it began with.
    expect(await a?.module.default({} as never)).toBe(1);
    expect(heard).toEqual([{ ...none, loaded: ['a', 'c'] }]);
  });

  // Shows A-11.
  it('takes what plugins import of the project along', async () => {
    const folder = folderWith({
      '_esm.mjs': 'export const n = 1;',
      '_common.cjs': 'exports.n = 1;',
      'a.mjs': `import { n } from './_esm.mjs'; import common from './_common.cjs';
        export default () => [n, common.n];`,
      'b.cjs': `const { n } = require('./_common.cjs'); module.exports = async () => n;`,
    });
    // The test runner imports modules in a way of its own: this is about that of Node.
    const script = `
      import { writeFileSync } from 'node:fs';
      import { loadPlugins } from ${JSON.stringify(built)};
      const [, folder] = process.argv;
      const plugins = await loadPlugins({ folders: [folder], log: console.error, watched: true });
      const results = async () => Promise.all(['a', 'b'].map((name) => plugins.get(name).module.default({})));
      const said = [await results()];
      writeFileSync(folder + '/_esm.mjs', 'export const n = 2;');
      writeFileSync(folder + '/_common.cjs', 'exports.n = 3;');
      said.push((await plugins.reload()).loaded, await results());
      console.log(JSON.stringify(said));`;
    const { stdout } = await execute(process.execPath, [
      '--input-type=module',
      '-e',
      script,
      folder,
    ]);
    expect(JSON.parse(stdout)).toEqual([
      [[1, 1], 1],
      ['a', 'b'],
      [[2, 3], 3],
    ]);
  });

  it('loads ES modules in .js files again that Node knows by their syntax alone', async () => {
    const folder = folderWith({ 'a.js': 'export default () => 1;' });
    const script = `
      import { writeFileSync } from 'node:fs';
      import { loadPlugins } from ${JSON.stringify(built)};
      const [, folder] = process.argv;
      const plugins = await loadPlugins({ folders: [folder], log: console.error, watched: true });
      const results = async () =>
        Promise.all(plugins.names().filter((name) => name.length === 1).map((name) => plugins.get(name).module.default({})));
      const said = [await results()];
      for (const n of [2, 3]) {
        writeFileSync(folder + '/a.js', 'export default () => ' + n + ';');
        writeFileSync(folder + '/b.js', 'globalThis.evaluated = (globalThis.evaluated ?? 0) + 1; export default () => evaluated;');
        await plugins.reload();
        said.push(await results());
      }
      console.log(JSON.stringify(said));`;
    const { stdout } = await execute(process.execPath, [
      ...['--input-type=module', '-e', script, folder],
    ]);
    expect(JSON.parse(stdout)).toEqual([[1], [2, 1], [3, 1]]);
  });

  it('keeps the last edition that could be loaded', async () => {
    const { registry, write, resultOf, said } = await watched({
      'a.mjs': 'export default () => 1;',
    });
    write('a.mjs', 'export default () => {');
    expect(await registry.reload()).toEqual({ ...none, broken: ['a'] });
    expect(said[0]?.message).toContain('cannot be loaded');
    expect(await resultOf('a')).toBe(1);
    write('a.mjs', 'export default () => 3;');
    expect(await registry.reload()).toEqual({ ...none, loaded: ['a'] });
    expect(await resultOf('a')).toBe(3);
  });

  it('adds new plugins, removes those that are gone, and gives the shipped ones back', async () => {
    const { folder, registry, write, resultOf } = await watched({
      'noop.mjs': 'export default () => "mine";',
    });
    write('new.mjs', 'export default () => "new";');
    expect(await registry.reload()).toEqual({ ...none, loaded: ['new'] });
    rmSync(join(folder, 'new.mjs'));
    rmSync(join(folder, 'noop.mjs'));
    expect(await registry.reload()).toEqual({ ...none, loaded: ['noop'], removed: ['new'] });
    expect(registry.names()).not.toContain('new');
    expect(await resultOf('noop')).not.toBe('mine');
  });
});
