import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** What is imported by name or started by itself: each is a file of `dist` at the same place. */
const entries = [
  ...[
    'src/index',
    'src/plugin/index',
    'src/testing/index',
    'src/node-workflow/index',
    'src/cli/main',
    'src/cli/schemas',
    'src/embedded/process',
  ],
  // Threads and processes of their own (`builtModule`).
  ...['src/embedded/auth/hash-thread', 'src/embedded/functions/worker'],
  ...['src/engine/watch/watchdog-thread', 'src/evaluate/calculation-thread'],
  ...['src/plugin/isolate-process', 'src/plugin/isolate-thread'],
  ...['bench/main', 'bench/engine-process', 'bench/way-hooks', 'bench/way-probe'],
  // The build itself.
  'scripts/reference',
  // Tests start programs with these.
  ...['src/engine/watch/watchdog', 'src/decide/decide'],
];
const plugins = readdirSync(join(root, 'plugins'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `plugins/${name.slice(0, -'.ts'.length)}`);

/**
 * What every command needs of npm: zod is a hundred files, half of them sentences in other languages, and
 * Node has to parse CommonJS packages (commander) for their exports first.
 */
const bundled = ['zod', 'commander'];

/**
 * The code of the package: few files instead of nearly a thousand, so that a command starts in half the
 * time. What else comes from npm stays outside, as `package.json` names it. A module that nothing is used of
 * is left out (`moduleSideEffects`): none does anything when it is loaded.
 */
export default {
  cwd: root,
  input: Object.fromEntries(
    [...entries, ...plugins].map((name) => [name, join(root, `${name}.ts`)]),
  ),
  platform: 'node',
  external: (id) => !id.startsWith('.') && !id.startsWith('/') && !bundled.includes(id),
  treeshake: { moduleSideEffects: false },
  output: {
    dir: join(root, 'dist'),
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'src/chunks/[name].js',
  },
};
