import { isObject } from '../../model/object.js';

/* The inputs of a form that is filled in without scripts, made from its JSON Schema. */

/** One input. What has none of its own is written as JSON. */
export type AnswerField = {
  readonly key: string;
  readonly label: string;
  readonly about?: string;
  readonly required: boolean;
  readonly input: AnswerInput;
};

export type AnswerInput =
  | { readonly kind: 'flag'; readonly yes: string; readonly no: string }
  | { readonly kind: 'choice'; readonly choices: readonly unknown[] }
  | {
      readonly kind: 'number';
      readonly whole: boolean;
      readonly min?: number;
      readonly max?: number;
    }
  | { readonly kind: 'text'; readonly type: string; readonly long: boolean }
  | { readonly kind: 'json' };

/** What was typed, by the names of the inputs. */
export type Typed = Readonly<Record<string, string>>;

/** The name of the input of a form as a whole. */
export const wholeName = 'answer';

type Schema = Readonly<Record<string, unknown>>;

/** The inputs of a form; undefined: the answer is written as JSON as a whole. */
export function answerFields(form: Schema): readonly AnswerField[] | undefined {
  const properties = Object.entries(isObject(form['properties']) ? form['properties'] : {});
  if (properties.length === 0) return undefined;
  const required = Array.isArray(form['required']) ? (form['required'] as readonly unknown[]) : [];
  return properties.map(([key, given]) => {
    const schema = isObject(given) ? given : {};
    const { title, description } = schema;
    return {
      key,
      label: typeof title === 'string' && title !== '' ? title : key,
      ...(typeof description === 'string' ? { about: description } : {}),
      required: required.includes(key),
      input: inputFor(key, schema),
    };
  });
}

/** The name of the input of a field. */
export const nameOfField = (key: string): string => `field.${key}`;

/** The answer that was typed. An input that is left empty gives nothing. */
export function answerTyped(form: Schema, typed: Typed): unknown {
  const fields = answerFields(form);
  if (fields === undefined) return jsonIn(typed[wholeName] ?? '') ?? {};
  return Object.fromEntries(
    fields.flatMap(({ key, input }) => {
      const text = typed[nameOfField(key)] ?? '';
      return text === '' ? [] : [[key, valueOf(text, input)] as const];
    }),
  );
}

function valueOf(text: string, input: AnswerInput): unknown {
  switch (input.kind) {
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case 'text':
      // Browsers send line breaks as CRLF.
      return text.replaceAll('\r\n', '\n');
    case 'choice':
    case 'json':
      return jsonIn(text);
  }
}

function jsonIn(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function inputFor(key: string, schema: Schema): AnswerInput {
  const { type, enum: choices, minimum, maximum, format, maxLength } = schema;
  if (Array.isArray(choices)) return { kind: 'choice', choices };
  switch (type) {
    case 'boolean':
      return key === 'approved'
        ? { kind: 'flag', yes: 'Approve', no: 'Refuse' }
        : { kind: 'flag', yes: 'Yes', no: 'No' };
    case 'number':
    case 'integer':
      return {
        ...{ kind: 'number', whole: type === 'integer' },
        ...(typeof minimum === 'number' ? { min: minimum } : {}),
        ...(typeof maximum === 'number' ? { max: maximum } : {}),
      };
    case 'string': {
      const own = typeof format === 'string' ? types.get(format) : undefined;
      const isLong = own === undefined && (typeof maxLength !== 'number' || maxLength > 200);
      return { kind: 'text', type: own ?? 'text', long: isLong };
    }
    default:
      return { kind: 'json' };
  }
}

/** Formats with an input of their own. */
const types: ReadonlyMap<string, string> = new Map([
  ['date', 'date'],
  ['email', 'email'],
  ['uri', 'url'],
]);
