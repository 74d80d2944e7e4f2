import { shownStatuses } from '../answers.js';
import { filterTexts, type ListFilter, type TextPart } from './filter.js';

/** What somebody wrote into the search box. */
export type SearchWords = {
  /** The filter that `field:value` words mean; undefined: there were none. */
  readonly filter?: ListFilter;
  /** The words that are none. */
  readonly rest: string;
  /** What cannot be searched for as it is written, in a sentence. */
  readonly problem?: string;
};

/** The names of fields in the search box, and the part of the filter each stands for. */
const fieldNames: Readonly<Record<string, TextPart>> = {
  ...Object.fromEntries(filterTexts.map((name) => [name, name])),
  id: 'id_prefix',
  external: 'external_id',
};

const pattern = /(?:([a-z_]+):)?("[^"]*"|\S+)/gi;

/**
 * Reads `flow:etl status:failed,running tag:a text:"no amount" id:import- …`. Words without a field
 * are left over; so is a word with a field that there is not, which alone may be an id.
 */
export function readSearch(text: string): SearchWords {
  const words = [...text.matchAll(pattern)].map(wordOf);
  const problems =
    (text.match(/"/g)?.length ?? 0) % 2 === 1 ? ['A quotation mark is not closed.'] : [];
  let filter: ListFilter = { status: [] };
  for (const { name, part, value } of words) {
    if (name === 'status') {
      problems.push(...statusProblems(value));
      filter = { ...filter, status: statusesIn(value, filter) };
    } else if (part !== undefined) {
      problems.push(...partProblems({ name, part, value }, filter));
      filter = { ...filter, [part]: value };
    }
  }
  const left = words.filter(({ name, part }) => name !== 'status' && part === undefined);
  const isFound = left.length < words.length;
  problems.push(...left.flatMap((one) => leftProblems(one, isFound)));
  const [problem] = problems;
  return {
    ...(isFound ? { filter } : {}),
    rest: left.map(({ name, whole, value }) => (name === '' ? value : whole)).join(' '),
    ...(problem === undefined ? {} : { problem }),
  };
}

type Word = {
  readonly whole: string;
  /** Of the field, in lower case; empty: there is none. */
  readonly name: string;
  readonly part: TextPart | undefined;
  readonly value: string;
};

function wordOf([whole, field = '', quoted = '']: RegExpExecArray): Word {
  const name = field.toLowerCase();
  const part = Object.hasOwn(fieldNames, name) ? fieldNames[name] : undefined;
  return { whole, name, part, value: quoted.replace(/^"|"$/g, '') };
}

/** Ids may contain colons, but beside fields a word with a colon is meant as one. */
function leftProblems({ name, value }: Word, isFound: boolean): readonly string[] {
  if (isBareField(value)) return [`Write a value after "${value}".`];
  if (name === '' || !isFound) return [];
  const fields = Object.keys(fieldNames).join(', ');
  return [`There is no field "${name}"; the fields are status, ${fields}.`];
}

const isBareField = (text: string): boolean =>
  text.endsWith(':') && [...Object.keys(fieldNames), 'status'].includes(text.slice(0, -1));

function statusProblems(value: string): readonly string[] {
  const unknown = value
    .toLowerCase()
    .split(',')
    .find((one) => !shownStatuses.some((status) => status === one));
  if (unknown === undefined) return [];
  return [`There is no status "${unknown}"; the statuses are ${shownStatuses.join(', ')}.`];
}

function partProblems(
  { name, part, value }: Pick<Word, 'name' | 'value'> & { readonly part: TextPart },
  before: ListFilter,
): readonly string[] {
  if (before[part] !== undefined) return [`"${name}:" is given twice.`];
  if (value === '') return [`Write a value after "${name}:".`];
  if (part === 'key' && !/^[^=]+=/.test(value)) {
    return [`"${value}" is no search key; write it as NAME=VALUE.`];
  }
  if ((part === 'from' || part === 'to') && Number.isNaN(Date.parse(value))) {
    return [`"${value}" is no time; write it as 2030-01-31T08:00.`];
  }
  return [];
}

function statusesIn(value: string, { status }: ListFilter): ListFilter['status'] {
  const words = value.toLowerCase().split(',');
  return shownStatuses.filter((one) => words.includes(one) || status.includes(one));
}

/** What can follow what was written so far, whole texts of the search box. */
export function completionsOf(text: string, flows: readonly string[]): readonly string[] {
  const [, before = '', last = ''] = /^(.*?)(\S*)$/.exec(text) ?? [];
  const [field = '', value] = last.split(':');
  const found =
    value === undefined
      ? [...Object.keys(fieldNames), 'status'].map((name) => `${name}:`)
      : valuesFor(field, flows).map((one) => `${field}:${/\s/.test(one) ? `"${one}"` : one}`);
  return found.filter((one) => one.startsWith(last) && one !== last).map((one) => before + one);
}

function valuesFor(field: string, flows: readonly string[]): readonly string[] {
  if (field === 'status') return shownStatuses;
  return field === 'flow' ? flows : [];
}
