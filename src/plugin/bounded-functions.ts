import type { Expression } from 'jsonata';
import { loadJsonata } from './late-packages.js';

/** No list of an expression may become longer, and no text be filled up to more characters. */
export const mostItems = 1_000_000;
/** Objects and lists are compared each with each, so only so many of them are. */
const mostCompared = 5_000;

/**
 * Gives an expression functions that do what JSONata's own do, without holding up the process: its
 * `$pad` ends it when the width is large, `$sort` of 100,000 numbers takes all memory there is, and
 * `$distinct` a time that grows with the square of the list.
 */
export async function boundFunctions(program: Expression): Promise<void> {
  const { sort, distinct } = await (builtIn ??= readBuiltIn());
  program.registerFunction('pad', pad, '<s-ns?:s>');
  program.registerFunction(
    'sort',
    function (this: unknown, list: unknown[] | undefined, isAfter?: unknown): unknown {
      const sorted = isAfter === undefined ? sortPlain(list) : undefined;
      return sorted ?? sort.call(this, list, isAfter);
    },
    '<af?:a>',
  );
  program.registerFunction(
    'distinct',
    function (this: unknown, list: unknown): unknown {
      return distinctPlain(list) ?? distinct.call(this, list);
    },
    '<x:x>',
  );
}

type Implementation = (this: unknown, ...given: unknown[]) => unknown;

type BuiltIn = { readonly sort: Implementation; readonly distinct: Implementation };

/** JSONata's own, for what is not done here. */
let builtIn: Promise<BuiltIn> | undefined;

async function readBuiltIn(): Promise<BuiltIn> {
  return { sort: await implementationOf('$sort'), distinct: await implementationOf('$distinct') };
}

async function implementationOf(name: string): Promise<Implementation> {
  const found = (await loadJsonata()(name).evaluate({})) as { implementation: Implementation };
  return found.implementation;
}

function pad(text: string | undefined, width: number, filling = ' '): string | undefined {
  if (text === undefined) return undefined;
  if (Math.abs(width) > mostItems) {
    throw new Error(`$pad fills up to ${mostItems} characters at most`);
  }
  const missing = Math.max(0, Math.abs(Math.trunc(width)) - [...text].length);
  const signs = [...(filling === '' ? ' ' : filling)];
  const padding = Array.from({ length: missing }, (_, i) => signs[i % signs.length]).join('');
  return width > 0 ? `${text}${padding}` : `${padding}${text}`;
}

/** Numbers or texts in order; undefined for anything else. */
function sortPlain(list: unknown): unknown[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const isAll = (type: string): boolean => list.every((item) => typeof item === type);
  if (!isAll('number') && !isAll('string')) return undefined;
  return (list as string[]).toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Plain values once each; undefined where there are few enough others for JSONata to compare. */
function distinctPlain(list: unknown): unknown[] | undefined {
  if (!Array.isArray(list) || list.length <= 1) return undefined;
  const others = list.filter((item) => typeof item === 'object' && item !== null).length;
  if (others === 0) return [...new Set(list as unknown[])];
  if (others <= mostCompared && list.length <= mostCompared) return undefined;
  throw new Error(`$distinct compares ${mostCompared} values at most where some are objects`);
}
