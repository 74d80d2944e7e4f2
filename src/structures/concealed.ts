import { isObject } from '../model/object.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns the fields of a form whose answers are not shown: `writeOnly`, or of the format `password`, they or anything
 * in them or in what they refer to. Undefined: there are none.
 */
export function concealedIn(form: Schema): readonly string[] | undefined {
  const ofAnswer = reached(form, (schema) => [
    ...together.map((key) => schema[key]),
    ...Object.values(isObject(schema['dependentSchemas']) ? schema['dependentSchemas'] : {}),
    referredBy(schema, form),
  ]);
  const fields = ofAnswer.flatMap(({ properties }) =>
    Object.entries(isObject(properties) ? properties : {}),
  );
  const names = fields.filter(([, field]) => isConcealed(field, form)).map(([name]) => name);
  return names.length === 0 ? undefined : [...new Set(names)];
}

/** What else a schema says of the same value. */
const together = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not'] as const;

function isConcealed(field: unknown, form: Schema): boolean {
  const all = reached(field, (part) => {
    // Definitions count where something refers to them.
    const { $defs: _defs, definitions: _definitions, ...own } = part;
    return [...Object.values(own), referredBy(part, form)];
  });
  return all.some((part) => part['writeOnly'] === true || part['format'] === 'password');
}

/** All objects that come of a value, each once, also where schemas refer to themselves. */
function reached(first: unknown, next: (one: Schema) => readonly unknown[]): readonly Schema[] {
  const found = new Set<Schema>();
  const open = [first];
  for (const one of open) {
    if (Array.isArray(one)) open.push(...(one as readonly unknown[]));
    else if (isObject(one) && !found.has(one)) {
      found.add(one);
      open.push(...next(one));
    }
  }
  return [...found];
}

/** What `$ref` of a schema stands for, where it is a place in the form. */
function referredBy({ $ref: ref }: Schema, form: Schema): unknown {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined;
  const keys = ref.split('/').slice(1);
  return keys.reduce<unknown>((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof at === 'object' && at !== null ? (at as Schema)[name] : undefined;
  }, form);
}
