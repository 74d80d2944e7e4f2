import { posix } from 'node:path';
import { code, page, rowsBelow, table } from './markdown.js';
import type { Shown } from './shown.js';

/** A row of the features: where it is documented, and why no test shows it, if none does. */
export type Feature = {
  readonly row: string;
  readonly about: string;
  readonly link: string;
  readonly notYet?: string;
  readonly against?: string;
};

/** The features of the source, by their headings. @param text of `scripts/reference/features.md` */
export function featuresOf(text: string): ReadonlyMap<string, readonly Feature[]> {
  const reasons = (heading: string): ReadonlyMap<string, string> =>
    new Map(rowsBelow(text, heading).map(([row = '', why = '']) => [row, why]));
  const notYet = reasons('## Not yet');
  const against = reasons('## Decided against');
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([line]) => line);
  return new Map(
    headings
      .filter((heading) => heading !== '## Not yet' && heading !== '## Decided against')
      .map((heading) => [
        heading,
        rowsBelow(text, heading).map(([row = '', about = '', link = '']) => ({
          row,
          about,
          link,
          ...(notYet.has(row) ? { notYet: notYet.get(row) ?? '' } : {}),
          ...(against.has(row) ? { against: against.get(row) ?? '' } : {}),
        })),
      ]),
  );
}

/** What is not as it should be between features and tests, a sentence each. */
export function featureFaults(
  features: readonly Feature[],
  shown: readonly Shown[],
): readonly string[] {
  const rows = new Set(features.map(({ row }) => row));
  const byRow = new Set(shown.flatMap((one) => one.rows));
  return [
    ...features
      .filter(({ row }, i) => features.findIndex((other) => other.row === row) !== i)
      .map(({ row }) => `${row} is there twice.`),
    ...features
      .filter(({ row, notYet, against }) => !byRow.has(row) && (notYet ?? against) === undefined)
      .map(({ row }) => `${row} has no test.`),
    ...features
      .filter(({ row, against }) => byRow.has(row) && against !== undefined)
      .map(({ row }) => `${row} is decided against, and has a test.`),
    ...shown.flatMap(({ file, title, rows: named }) => [
      ...(title === '' ? [`${file} shows ${named.join(', ')} with no test.`] : []),
      ...named
        .filter((row) => !rows.has(row))
        .map((row) => `${file} shows ${row}, which is no row.`),
    ]),
  ];
}

/** The table of all features with the tests that show them. */
export function featuresPage(text: string, shown: readonly Shown[]): string {
  const features = featuresOf(text);
  const all = [...features.values()].flat();
  const open = all.filter(({ notYet }) => notYet !== undefined).length;
  const against = all.filter((one) => one.against !== undefined).length;
  return page(
    'Features',
    `Every feature with the tests that show it: ${all.length - open - against} are shown, ${open} are not there, or not in full, and ${against} is decided against. Tests are below the folder \`test\` of the repository.`,
    [...features].flatMap(([heading, rows]) => [
      heading,
      table(
        ['', 'what it is', 'shown by'],
        rows.map((feature) => [feature.row, aboutOf(feature), provenBy(feature, shown)]),
      ),
    ]),
  );
}

function aboutOf({ about, link }: Feature): string {
  return `${about} ([${labelOf(link)}](${posix.relative('docs/reference', link)}))`;
}

/** `docs/guides/documents.md#times-and-limits` -> `documents: times and limits` */
function labelOf(link: string): string {
  const [path = '', anchor = ''] = link.replace(/\/(README|index)\.md/, '.md').split('#');
  const name = posix.basename(path, '.md').replaceAll('-', ' ');
  return anchor === '' ? name : `${name}: ${anchor.replaceAll('-', ' ')}`;
}

function provenBy({ row, notYet, against }: Feature, shown: readonly Shown[]): string {
  if (against !== undefined) return `Decided against: ${against}.`;
  const tests = shown
    .filter(({ rows }) => rows.includes(row))
    .map(({ file, title }) => `${code(file)}: ${code(title)}`);
  return [...(notYet === undefined ? [] : [`Not yet: ${notYet}.`]), ...tests].join('<br>');
}
