import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { featureFaults, featuresOf, featuresPage } from '../../scripts/reference/features.js';
import { shownBelow, shownIn } from '../../scripts/reference/shown.js';
import { root } from './pages.js';

const source = readFileSync(join(root, 'scripts', 'reference', 'features.md'), 'utf8');

describe('the table of features', () => {
  it('has a test for every row that is there, and no test of a row that is not', async () => {
    const features = [...featuresOf(source).values()].flat();
    expect(features).toHaveLength(204);
    expect(featureFaults(features, await shownBelow(root))).toEqual([]);
  });

  it('tells of rows without a test, and of tests without a row', () => {
    const feature = { about: 'x', link: 'docs/index.md' };
    const rows = [
      { row: 'A-01', ...feature },
      { row: 'A-01', ...feature },
      { row: 'A-02', ...feature, notYet: 'all of it' },
      { row: 'A-03', ...feature, against: 'because' },
    ];
    const text =
      '// Shows A-03, Z-99.\nit("is shown", () => {\n});\n// Shows A-02.\nconst none = 1;\n';
    expect(featureFaults(rows, shownIn('some.test.ts', text))).toEqual([
      'A-01 is there twice.',
      'A-01 has no test.',
      'A-01 has no test.',
      'A-03 is decided against, and has a test.',
      'some.test.ts shows Z-99, which is no row.',
      'some.test.ts shows A-02 with no test.',
    ]);
  });

  it('names the tests by their files and titles, also those of a table of cases', () => {
    const text = [
      "describe('x', () => {",
      '  // Shows A-01.',
      "  it.each([['(', 1]])('takes %s', () => {});",
      '  // Shows A-02, A-03.',
      '  test(`is "quoted"`, async () => {});',
      '});',
    ].join('\n');
    const shown = shownIn('x.test.ts', text);
    expect(shown).toEqual([
      { file: 'x.test.ts', title: 'takes %s', rows: ['A-01'] },
      { file: 'x.test.ts', title: 'is "quoted"', rows: ['A-02', 'A-03'] },
    ]);
    const page = featuresPage(source, shown);
    expect(page).toContain('`x.test.ts`: `is "quoted"`');
    expect(page).toMatch(/\| X-56 \| .* \| Decided against: .*\. \|/);
  });
});
