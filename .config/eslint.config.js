import { join } from 'node:path';
import js from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';
import { layersRule } from './layers.js';

/** The limits of files and functions; blank lines and comments are not counted. */
const limits = {
  'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
  'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 4],
  // A switch counts once: the cases of a union are a table.
  complexity: ['error', { max: 15, variant: 'modified' }],
};

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**', 'couch/**', 'test/fixtures/**'] },
  js.configs.recommended,
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      globals: globals.node,
      parserOptions: {
        projectService: {
          allowDefaultProject: [
            '.config/*.js',
            'bin/*.js',
            'docs/operations/*.mjs',
            'scripts/*.js',
          ],
        },
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
  {
    files: ['bin/**', 'scripts/**', 'test/**', 'bench/**', 'docs/**', 'src/plugin/console.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // Only an interface can be merged with vitest's.
    files: ['test/support/couch-server.ts'],
    rules: { '@typescript-eslint/consistent-type-definitions': 'off' },
  },
  { files: ['**/*.{js,mjs}'], ...tseslint.configs.disableTypeChecked },
  {
    files: ['src/**', 'plugins/**'],
    plugins: { tws: { rules: { layers: layersRule } } },
    rules: { 'tws/layers': 'error' },
  },
  { files: ['src/**', 'plugins/**'], rules: limits },
  { files: ['src/pages/**'], languageOptions: { globals: globals.browser } },
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
);
