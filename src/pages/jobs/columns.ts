import type { Summary } from '../answers.js';
import type { ColumnKey } from './sort.js';

/** A column of the list of jobs. */
export type JobColumn = {
  /** Its word in an address. */
  readonly word: string;
  readonly title: string;
  /** The least width, rem. */
  readonly least: number;
  /** Its share of the width that is left; none: it stays as it is. */
  readonly share?: number;
  readonly sort?: ColumnKey;
};

/** A job is not recognized without these: they are always there, and come first. */
const fixed = [
  { word: 'status', title: 'Status', least: 6.6, sort: 'status' },
  { word: 'id', title: 'Job', least: 8, share: 1.5, sort: 'id' },
] as const satisfies readonly JobColumn[];

/** The columns that can be chosen, in their usual order. */
export const optional = [
  { word: 'flow', title: 'Flow', least: 6, share: 1.1, sort: 'flow' },
  { word: 'now', title: 'Now, or why it failed', least: 8, share: 2 },
  { word: 'started', title: 'Began', least: 8.6, sort: 'started' },
  { word: 'took', title: 'Took', least: 6.8, sort: 'took' },
  { word: 'owner', title: 'Owner', least: 5, sort: 'owner' },
  { word: 'version', title: 'Version', least: 4 },
  { word: 'ended', title: 'Ended', least: 8.6 },
  { word: 'due', title: 'Due', least: 8.6 },
  { word: 'attempts', title: 'Attempts', least: 5 },
  { word: 'priority', title: 'Priority', least: 5 },
  { word: 'exit', title: 'Exit', least: 3 },
  { word: 'queue', title: 'Queue', least: 5 },
  { word: 'target', title: 'Target', least: 5 },
  { word: 'external_id', title: 'External id', least: 8 },
  { word: 'parent', title: 'Parent job', least: 8 },
] as const satisfies readonly JobColumn[];

/** The columns that the table has; others show search keys. */
export type ColumnWord = (typeof fixed | typeof optional)[number]['word'];

const usualWords: readonly string[] = ['flow', 'now', 'started', 'took', 'owner'];
const keyPrefix = 'key.';

/** The words of the columns that are chosen; undefined: the usual ones. */
export type ColumnChoice = readonly string[] | undefined;

/** Whether a word of an address names a column: one of the table, or `key.NAME` for a search key. */
function isColumn(word: string): boolean {
  const isNamed = optional.some((one) => one.word === word);
  return isNamed || (word.startsWith(keyPrefix) && word.length > keyPrefix.length);
}

/** The columns that an address asks for: `columns=flow,took,key.order`. */
export function columnsOf(search: URLSearchParams): ColumnChoice {
  const text = search.get('columns');
  return text === null ? undefined : choiceOf(text.split(',').filter(isColumn));
}

/** More than these could not be read beside each other. */
const mostColumns = 30;

/** A choice of these columns, each once. */
function choiceOf(words: readonly string[]): ColumnChoice {
  const choice = [...new Set(words)].slice(0, mostColumns);
  return choice.join() === usualWords.join() ? undefined : choice;
}

/** The words of the chosen columns. */
export function chosenWords(choice: ColumnChoice): readonly string[] {
  return choice ?? usualWords;
}

/** The choice with a column more, at the end, or without it. */
export function toggled(choice: ColumnChoice, word: string): ColumnChoice {
  const words = chosenWords(choice);
  const others = words.filter((one) => one !== word);
  if (others.length < words.length) return choiceOf(others);
  return isColumn(word) ? choiceOf([...words, word]) : choice;
}

/** The word of the column that shows a search key. */
export function keyColumn(name: string): string {
  return `${keyPrefix}${name}`;
}

/** The search key that a column shows; undefined: none. */
export function keyOfColumn(word: string): string | undefined {
  return word.startsWith(keyPrefix) ? word.slice(keyPrefix.length) : undefined;
}

/** The text of a job's search key. */
export function keyText({ keys }: Summary, name: string): string | undefined {
  const value = keys !== undefined && Object.hasOwn(keys, name) ? keys[name] : undefined;
  return typeof value === 'string' || value === undefined ? value : JSON.stringify(value);
}

/** The columns that are shown, in their order. */
export function shownColumns(choice: ColumnChoice): readonly JobColumn[] {
  const chosen = chosenWords(choice).map((word): JobColumn => {
    const named = optional.find((one) => one.word === word);
    return named ?? { word, title: keyOfColumn(word) ?? word, least: 6, share: 1 };
  });
  return [...fixed, ...chosen];
}

/** The widths of the columns, as `grid-template-columns` says it. */
export function tracks(columns: readonly JobColumn[]): string {
  return columns
    .map(({ least, share }) =>
      share === undefined ? `${least}rem` : `minmax(${least}rem, ${share}fr)`,
    )
    .join(' ');
}

/** The least width of a row with these columns, rem; `gap`: between two of them, and at both ends. */
export function leastWidth(columns: readonly JobColumn[], gap = 0.9): number {
  return columns.reduce((sum, { least }) => sum + least + gap, gap);
}
