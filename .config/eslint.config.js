import { join } from 'node:path';
import js from '@eslint/js';
import globals from 'globals';
import tseslint from 'typescript-eslint';
import { layersRule } from './layers.js';
import { limits, over } from './limits.js';

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
  ...Object.entries(over).map(([rule, files]) => ({ files, rules: { [rule]: 'off' } })),
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
