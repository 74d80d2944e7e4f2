/*
 * The paths of the suite: `$.jobs[0].state`, `$.crons[*].name`, `$.jobs[?(@.id=='x')].state`. A key that
 * is absent has the value undefined; a path that leads through something else is a mistake.
 */

export type Found = { readonly ok: true; readonly value: unknown } | Wrong;
type Wrong = { readonly ok: false; readonly reason: string };

type Part =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'each' }
  | { readonly kind: 'where'; readonly key: string; readonly value: string };

/** What a path leads to in a body. */
export function valueAt(path: string, body: unknown): Found {
  const parts = partsOf(path.replace(/^\$\./, ''));
  return parts === undefined ? wrong(`The path "${path}" cannot be read.`) : walk(parts, body);
}

const token =
  /^(?:\.?([^.[\]]+)|\[(\d+)\]|(\[\*\])|\[\?\(@\.([^=]+?)\s*==\s*(?:'([^']*)'|"([^"]*)"|([^)]*))\)\])/;

function partsOf(path: string): readonly Part[] | undefined {
  const parts: Part[] = [];
  for (let rest = path; rest !== '';) {
    const match = token.exec(rest);
    if (match === null) return undefined;
    parts.push(partOf(match));
    rest = rest.slice(match[0].length);
  }
  return parts;
}

function partOf([, key, index, each, where, ...values]: RegExpExecArray): Part {
  if (key !== undefined) return { kind: 'key', key };
  if (index !== undefined) return { kind: 'index', index: Number(index) };
  if (each !== undefined) return { kind: 'each' };
  return {
    kind: 'where',
    key: String(where),
    value: values.find((one) => one !== undefined) ?? '',
  };
}

function walk(parts: readonly Part[], from: unknown): Found {
  let value = from;
  for (const [i, part] of parts.entries()) {
    if (part.kind === 'key') {
      if (!isRecord(value)) return wrong(`There is no object that could have "${part.key}".`);
      value = value[part.key];
      continue;
    }
    if (!Array.isArray(value)) return wrong('There is no list where the path wants one.');
    const list: readonly unknown[] = value;
    if (part.kind === 'each') return { ok: true, value: collected(list, parts.slice(i + 1)) };
    if (part.kind === 'where') {
      const { key, value: wanted } = part;
      value = list.find((one) => isRecord(one) && String(one[key]) === wanted);
      if (value === undefined) return { ok: true, value };
      continue;
    }
    if (part.index >= list.length) return wrong(`The list has ${list.length} entries.`);
    value = list[part.index];
  }
  return { ok: true, value };
}

function collected(list: readonly unknown[], rest: readonly Part[]): readonly unknown[] {
  return list.flatMap((one) => {
    const found = walk(rest, one);
    return found.ok && found.value !== undefined ? [found.value] : [];
  });
}

function wrong(reason: string): Wrong {
  return { ok: false, reason };
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
