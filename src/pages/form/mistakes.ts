import { groupOf, draftItems, valueOf, variantsOf, type FieldDraft } from './drafts.js';
import type { Field, ListField, NumberField, SeveralField, TextField } from './fields.js';

/** What is wrong, by the JSON path of its field: `params.mail.to[0]`. */
export type Mistakes = Readonly<Record<string, string>>;

/** Everything in a draft that the schema does not allow, as far as the form knows it. */
export function mistakesOf(field: Field, draft: FieldDraft, path: string): Mistakes {
  const value = valueOf(field, draft);
  if (value === undefined) return field.required ? { [path]: 'This must be filled in.' } : {};
  if (value === null && field.nullable) return {};
  switch (field.kind) {
    case 'text':
      return mistakeAt(path, textMistake(field, typeof value === 'string' ? value : ''));
    case 'number':
      return mistakeAt(path, numberMistake(field, value));
    case 'json':
      return mistakeAt(path, jsonMistake(draft));
    case 'several':
      return mistakeAt(path, countMistake(field, value as readonly unknown[]));
    case 'list': {
      const items = draftItems(draft).map((item, i) =>
        mistakesOf(field.item, item, `${path}[${i}]`),
      );
      return Object.assign(
        {},
        mistakeAt(path, listMistake(field, value as readonly unknown[])),
        ...items,
      ) as Mistakes;
    }
    case 'group': {
      const { parts } = groupOf(draft);
      const inner = Object.entries(field.fields).map(([key, one]) =>
        mistakesOf(one, parts[key], belowPath(path, key)),
      );
      return Object.assign({}, ...inner) as Mistakes;
    }
    case 'variants': {
      const { chosen, drafts } = variantsOf(draft);
      const variant = field.variants[chosen];
      return variant === undefined ? {} : mistakesOf(variant, drafts[chosen], path);
    }
    case 'flag':
    case 'choice':
    case 'fixed':
      return {};
  }
}

/** The path of a field in a group, as the server writes it. */
export function belowPath(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

function mistakeAt(path: string, message: string | undefined): Mistakes {
  return message === undefined ? {} : { [path]: message };
}

/** Longer texts are not matched here: some patterns would take for ever; the server's do not. */
const longestMatched = 1_000;

function textMistake(field: TextField, value: string): string | undefined {
  const { minLength, maxLength, pattern, format } = field;
  const length = [...value].length;
  if (minLength !== undefined && length < minLength) {
    return `It must have ${minLength} or more characters; it has ${length}.`;
  }
  if (maxLength !== undefined && length > maxLength) {
    return `It must have at most ${maxLength} characters; it has ${length}.`;
  }
  if (pattern !== undefined && !matches(pattern, value))
    return `It must be of the form ${pattern}.`;
  return format === undefined || formatChecks[format](value) ? undefined : formatTexts[format];
}

function matches(pattern: string, value: string): boolean {
  if (value.length > longestMatched) return true;
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    // The engine knows more patterns than the browser; the check before the submit has its say.
    return true;
  }
}

const formatChecks: Readonly<Record<NonNullable<TextField['format']>, (value: string) => boolean>> =
  {
    date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
    time: (value) => /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?/.test(value),
    'date-time': (value) => !Number.isNaN(Date.parse(value)),
    email: (value) => /^[^\s@]+@[^\s@]+$/.test(value),
    uri: (value) => /^[a-z][a-z\d+.-]*:\S+$/i.test(value),
    uuid: (value) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value),
    password: () => true,
  };

const formatTexts: typeof formatChecks extends Readonly<Record<infer K extends string, unknown>>
  ? Readonly<Record<K, string>>
  : never = {
  date: 'It must be a date.',
  time: 'It must be a time of day.',
  'date-time': 'It must be a date and a time.',
  email: 'It must be a mail address, such as ada@example.com.',
  uri: 'It must be an address, such as https://example.com/.',
  uuid: 'It must be a UUID: 8-4-4-4-12 hexadecimal digits.',
  password: '',
};

function numberMistake(field: NumberField, value: unknown): string | undefined {
  const { integer, minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = field;
  if (typeof value !== 'number') return 'It must be a number.';
  if (integer && !Number.isInteger(value)) return 'It must be a whole number.';
  if (minimum !== undefined && value < minimum) return `It must be ${minimum} or more.`;
  if (maximum !== undefined && value > maximum) return `It must be ${maximum} or less.`;
  if (above !== undefined && value <= above) return `It must be more than ${above}.`;
  if (below !== undefined && value >= below) return `It must be less than ${below}.`;
  const { multipleOf: step } = field;
  if (step === undefined || isMultiple(value, step)) return undefined;
  return `It must be a multiple of ${step}.`;
}

function isMultiple(value: number, step: number): boolean {
  const times = value / step;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

function jsonMistake(draft: FieldDraft): string | undefined {
  try {
    JSON.parse(typeof draft === 'string' ? draft : '');
    return undefined;
  } catch (error) {
    return `It must be JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
}

function countMistake(
  { minItems, maxItems }: Pick<SeveralField, 'minItems' | 'maxItems'>,
  { length }: readonly unknown[],
): string | undefined {
  if (length < minItems) return `It must have ${minItems} or more; it has ${length}.`;
  return length > maxItems ? `It must have at most ${maxItems}; it has ${length}.` : undefined;
}

function listMistake(field: ListField, value: readonly unknown[]): string | undefined {
  const seen = new Set(value.map((one) => JSON.stringify(one)));
  if (field.unique && seen.size < value.length) return 'It must not have the same item twice.';
  return countMistake(field, value);
}
