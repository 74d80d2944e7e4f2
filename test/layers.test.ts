import { join } from 'node:path';
import { Linter, type Rule } from 'eslint';
import tseslint from 'typescript-eslint';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const rules = join(root, '.config', 'layers.js');
const { layersRule } = (await import(rules)) as { readonly layersRule: Rule.RuleModule };

/** What lint says of the imports of a file. */
function told(file: string, code: string): readonly string[] {
  const linter = new Linter({ cwd: root });
  const config: Linter.Config = {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser },
    plugins: { tws: { rules: { layers: layersRule } } },
    rules: { 'tws/layers': 'error' },
  };
  return linter.verify(code, [config], join(root, file)).map(({ message }) => message);
}

it.each([
  ['src/http/routes/a.ts', "import type { Io } from '../../cli/io.js';", 'http may not import cli'],
  ['src/http/a.ts', "await import('../engine/engine.js');", 'http may not import engine'],
  ['src/model/a.ts', "type A = import('../decide/a.js').A;", 'model may not import decide'],
  ['src/cli/a.ts', "export * from '../client/open.js';", 'cli may not import client/open'],
  ['src/client/a.ts', "import nano from 'nano';", 'only store may import nano'],
  ['src/decide/a.ts', "import 'node:fs';", 'decide may not import the package node:fs'],
  ['src/pages/a.tsx', "import 'node:fs';", 'pages run in a browser'],
  ['src/other/a.ts', "import './b.js';", 'other/a has no row'],
  ['src/replicas/resolve/a.ts', "import '../copies.js';", 'replicas/resolve may not import'],
  ['plugins/a.ts', "import '../src/plugin/api.js';", 'plugins may not import plugin/api'],
])('the layers refuse to %s: %s', (file, code, reason) => {
  expect(told(file, code)).toEqual([expect.stringContaining(reason)]);
});

it.each([
  ['src/cli/a.ts', "import '../client.js';"],
  ['src/cli/engine-run.ts', "import '../engine/engine.js';"],
  ['src/embedded/routes/a.ts', "import '../http/body.js';"],
  ['src/store/a.ts', "import nano from 'nano';"],
  ['src/replicas/a.ts', "import './resolve/agree.js';"],
  ['plugins/a.ts', "import '../src/plugin/index.js';"],
])('the layers let %s: %s', (file, code) => {
  expect(told(file, code)).toEqual([]);
});
