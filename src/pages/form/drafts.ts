import { isRecord } from '../editor/schema-at.js';
import type { ChoiceOption, Field } from './fields.js';
import { fromInput, toInput } from './moments.js';

/**
 * What somebody has filled in so far, also what is not valid yet: texts of inputs as they stand there,
 * `''` or undefined where nothing is.
 */
export type FieldDraft =
  string | boolean | undefined | readonly FieldDraft[] | GroupDraft | VariantsDraft;

/** `rest`: keys that the schema does not name; they are kept. */
export type GroupDraft = {
  readonly parts: Readonly<Record<string, FieldDraft>>;
  readonly rest: Readonly<Record<string, unknown>>;
};

/** What is filled in for each variant is kept while another one is chosen. */
export type VariantsDraft = { readonly chosen: number; readonly drafts: readonly FieldDraft[] };

/** What a field begins with: a value that is there already, else what the schema says. */
export function draftOf(field: Field, given?: unknown): FieldDraft {
  const value = given === undefined ? field.initial : given;
  switch (field.kind) {
    case 'text':
      return typeof value === 'string' ? toInput(value, field.format) : '';
    case 'number':
      return typeof value === 'number' ? String(value) : '';
    case 'flag':
      return typeof value === 'boolean' ? value : undefined;
    case 'choice':
      return indexOf(field.choices, value);
    case 'several':
      return Array.isArray(value)
        ? value.map((one) => indexOf(field.choices, one)).filter(Boolean)
        : [];
    case 'fixed':
      return undefined;
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2);
    case 'list':
      return listDraft(field.item, field.required ? field.minItems : 0, value);
    case 'group': {
      const own = isRecord(value) ? value : {};
      const keys = Object.keys(field.fields);
      const rest = Object.entries(own).filter(([key]) => !keys.includes(key));
      const values = Object.entries(field.fields).map(([key, inner]) => [
        key,
        draftOf(inner, Object.hasOwn(own, key) ? own[key] : undefined),
      ]);
      return {
        parts: Object.fromEntries(values) as GroupDraft['parts'],
        rest: Object.fromEntries(rest),
      };
    }
    case 'variants': {
      const at = field.variants.findIndex((one) => mayHold(one, value));
      const drafts = field.variants.map((one, i) => draftOf(one, i === at ? value : undefined));
      // None of them, where none has to be.
      return { chosen: at < 0 && field.required ? 0 : at, drafts };
    }
  }
}

function listDraft(item: Field, least: number, value: unknown): readonly FieldDraft[] {
  if (Array.isArray(value)) return value.map((one) => draftOf(item, one));
  return Array.from({ length: Math.min(least, 20) }, () => draftOf(item));
}

function indexOf(choices: readonly ChoiceOption[], value: unknown): string {
  if (value === undefined) return '';
  const text = JSON.stringify(value);
  const index = choices.findIndex((choice) => JSON.stringify(choice.value) === text);
  return index < 0 ? '' : String(index);
}

/** Whether a value may be one of this field. */
function mayHold(field: Field, value: unknown): boolean {
  if (value === undefined) return false;
  switch (field.kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'flag':
      return typeof value === 'boolean';
    case 'choice':
      return indexOf(field.choices, value) !== '';
    case 'fixed':
      return JSON.stringify(field.value) === JSON.stringify(value);
    case 'several':
    case 'list':
      return Array.isArray(value);
    case 'group':
      return (
        isRecord(value) &&
        Object.entries(field.fields).every(([key, inner]) =>
          Object.hasOwn(value, key) ? mayHold(inner, value[key]) : !inner.required,
        )
      );
    case 'variants':
      return field.variants.some((one) => mayHold(one, value));
    case 'json':
      return true;
  }
}

/** The value of what is filled in; undefined: it is left out. What is no number or JSON stays a text. */
export function valueOf(field: Field, draft: FieldDraft): unknown {
  const value = bare(field, draft);
  return value === undefined && field.required && field.nullable ? null : value;
}

function bare(field: Field, draft: FieldDraft): unknown {
  switch (field.kind) {
    case 'text':
      return draft === '' || typeof draft !== 'string' ? undefined : fromInput(draft, field.format);
    case 'number':
      return unlessBlank(draft, numberOf);
    case 'flag':
      return typeof draft === 'boolean' ? draft : field.required ? false : undefined;
    case 'choice':
      return typeof draft === 'string' ? field.choices[indexIn(draft)]?.value : undefined;
    case 'several': {
      const chosen = draftItems(draft).map(
        (one) => field.choices[typeof one === 'string' ? indexIn(one) : -1]?.value,
      );
      return unlessEmpty(chosen, field);
    }
    case 'fixed':
      return field.required ? field.value : undefined;
    case 'json':
      return unlessBlank(draft, jsonOf);
    case 'list': {
      const items = draftItems(draft).map((one) => valueOf(field.item, one) ?? null);
      return unlessEmpty(items, field);
    }
    case 'group': {
      const { parts, rest } = groupOf(draft);
      const filled = Object.entries(field.fields)
        .map(([key, inner]) => [key, valueOf(inner, parts[key])] as const)
        .filter(([, value]) => value !== undefined);
      const own = { ...rest, ...Object.fromEntries(filled) };
      return isUntouched(field, own) ? undefined : own;
    }
    case 'variants': {
      const { chosen, drafts } = variantsOf(draft);
      const variant = field.variants[chosen];
      return variant === undefined ? undefined : valueOf(variant, drafts[chosen]);
    }
  }
}

/** An input without text is left out. */
function unlessBlank(draft: FieldDraft, read: (text: string) => unknown): unknown {
  return typeof draft !== 'string' || draft.trim() === '' ? undefined : read(draft);
}

/** An empty list is left out unless it is required. */
function unlessEmpty(items: readonly unknown[], { required }: Field): unknown {
  return items.length === 0 && !required ? undefined : items;
}

/** A group that need not be there is left out while nothing in it was filled in. */
function isUntouched(field: Field, value: unknown): boolean {
  if (field.required || !isRecord(value)) return false;
  const fields = field.kind === 'group' ? field.fields : {};
  return Object.keys(value).every((key) => {
    const inner = fields[key];
    return (
      inner !== undefined &&
      (inner.kind === 'fixed' || (inner.kind === 'flag' && value[key] === false))
    );
  });
}

const indexIn = (text: string): number => (text === '' ? -1 : Number(text));

function numberOf(text: string): unknown {
  const value = Number(text.trim());
  return Number.isFinite(value) ? value : text;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A draft as a list. */
export function draftItems(draft: FieldDraft): readonly FieldDraft[] {
  return Array.isArray(draft) ? (draft as readonly FieldDraft[]) : [];
}

/** A draft as that of a group. */
export function groupOf(draft: FieldDraft): GroupDraft {
  return typeof draft === 'object' && 'parts' in draft ? draft : { parts: {}, rest: {} };
}

/** A draft as that of variants. */
export function variantsOf(draft: FieldDraft): VariantsDraft {
  return typeof draft === 'object' && 'drafts' in draft ? draft : { chosen: -1, drafts: [] };
}
