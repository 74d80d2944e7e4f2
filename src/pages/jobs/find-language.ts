import { shownStatuses } from '../answers.js';
import { filterTexts, type ListFilter, type TextPart } from './filter.js';

/** What somebody wrote into the search box. */
export type SearchWords = {
  /** The filter that `field:value` words mean; undefined: there were none. */
  readonly filter?: ListFilter;
  /** The words that are none. */
  readonly rest: string;
};

/** The names of fields in the search box, and the part of the filter each stands for. */
const fieldNames: Readonly<Record<string, TextPart>> = {
  ...Object.fromEntries(filterTexts.map((name) => [name, name])),
  id: 'id_prefix',
  external: 'external_id',
};

const word = /(?:([a-z_]+):)?("[^"]*"|\S+)/gi;

/**
 * Reads `flow:etl status:failed,running tag:a text:"no amount" id:import- …`. Words without a field,
 * and words with a field that there is not, are left over.
 */
export function readSearch(text: string): SearchWords {
  const rest: string[] = [];
  let filter: ListFilter = { status: [] };
  let isFound = false;
  for (const [whole, field = '', quoted = ''] of text.matchAll(word)) {
    const value = quoted.replace(/^"|"$/g, '');
    const name = field.toLowerCase();
    const part = Object.hasOwn(fieldNames, name) ? fieldNames[name] : undefined;
    if (name === 'status') filter = { ...filter, status: statusesIn(value, filter) };
    else if (part !== undefined) filter = { ...filter, [part]: value };
    else rest.push(field === '' ? value : whole);
    isFound ||= name === 'status' || part !== undefined;
  }
  return { ...(isFound ? { filter } : {}), rest: rest.join(' ') };
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
