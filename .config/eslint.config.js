import { join } from 'node:path';
import js from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';

/** One entry of the layer rules: files in `from` may not import what `forbid` names. */
const layer = (from, forbid, message) => ({
  files: from,
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      { patterns: forbid.map((group) => ({ ...group, message })) },
    ],
  },
});
const nano = { regex: '^nano$' };

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**', 'couch/**', 'test/fixtures/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      globals: globals.node,
      parserOptions: {
        projectService: { allowDefaultProject: ['.config/*.js', 'bin/*.js', 'scripts/*.js'] },
        tsconfigRootDir: join(import.meta.dirname, '..'),
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-definitions': ['error', 'type'],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      'no-console': 'error',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  { files: ['bin/**', 'scripts/**', 'test/**', 'bench/**'], rules: { 'no-console': 'off' } },
  {
    // Only an interface can be merged with vitest's.
    files: ['test/support/couch-server.ts'],
    rules: { '@typescript-eslint/consistent-type-definitions': 'off' },
  },
  { files: ['**/*.js'], ...tseslint.configs.disableTypeChecked },
  layer(['src/model/**'], [{ regex: '^(?!zod$|\\./)' }], 'model imports zod only.'),
  layer(
    ['src/structures/**'],
    [{ regex: '^(?!zod$|\\./|\\.\\./model/)' }],
    'structures imports model only.',
  ),
  layer(
    ['src/reading/**'],
    [{ regex: '^(?!zod$|\\./|\\.\\./(model|structures)/)' }],
    'reading imports model and structures only.',
  ),
  layer(
    ['src/picture/**'],
    [{ regex: '^(?!@dagrejs/dagre$|\\./|\\.\\./(model|structures)/|\\.\\./words\\.js$)' }],
    'picture imports model, structures, words and dagre only: it runs in the browser, too.',
  ),
  layer(
    ['src/decide/**'],
    [{ regex: '^(?!\\./|(\\.\\./)+(model|structures|reading)/|\\.\\./[a-z-]+\\.js$)' }],
    'decide imports model, structures and reading only.',
  ),
  layer(
    ['src/replicas/resolve/**'],
    [{ regex: '^(?!\\./|(\\.\\./)+(model|structures|reading|decide)/)' }],
    'replicas/resolve imports model, structures, reading and decide only.',
  ),
  layer(
    ['src/replicas/*.ts'],
    [nano, { regex: '^\\.\\./(?!(model|structures|reading|decide|store)/)' }],
    'replicas imports model, structures, reading, decide and store only.',
  ),
  layer(
    ['src/engine/**'],
    [
      nano,
      {
        regex:
          '^(\\.\\./)+(cli|client|config|embedded|http|mailbox|metrics|pages|picture)(/|\\.js$)',
      },
    ],
    'engine imports model, structures, reading, decide, replicas, store, plugin and secrets; it knows no client.',
  ),
  { files: ['src/pages/**'], languageOptions: { globals: globals.browser } },
  layer(
    ['src/pages/**'],
    [
      nano,
      { regex: '^node:' },
      { regex: '/(decide|store|client|cli|http|engine|embedded|secrets|metrics|plugin)/' },
    ],
    'pages run in a browser and know the API, src/picture and src/model only.',
  ),
  {
    files: ['src/{decide,reading,replicas/resolve,structures}/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...[
          'process',
          'fetch',
          'setTimeout',
          'setInterval',
          'setImmediate',
          'performance',
          'crypto',
          'Buffer',
        ],
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "NewExpression[callee.name='Date'][arguments.length=0], MemberExpression[object.name='Date'][property.name='now'], MemberExpression[object.name='Math'][property.name='random']",
          message: 'It knows no clock and no chance: they come in as arguments.',
        },
      ],
    },
  },
  layer(
    ['src/{config,client,errors}.ts', 'src/{client,plugin,secrets,embedded}/**'],
    [nano],
    'Only store knows nano.',
  ),
  layer(
    ['src/cli/**', 'src/http/**'],
    [nano, { regex: '/(decide|store)/' }],
    'cli and http go through client.ts: no decide, no store, no nano.',
  ),
  layer(
    ['plugins/**'],
    [{ regex: '/src/(?!plugin/index\\.js$)' }],
    'Plugins import src/plugin only.',
  ),
);
