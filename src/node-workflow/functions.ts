import { parse, type Expression, type Program } from 'acorn';
import { freeNamesOf } from './free-names.js';

/** The source of a function, as an expression, and the names that it uses and does not declare. */
export type FoundFunction =
  | { readonly ok: true; readonly source: string; readonly free: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/** Reads the function of a task: a function, or its source. `what`: how it is called in sentences. */
export function readFunction(given: unknown, what: string): FoundFunction {
  if (typeof given !== 'function' && typeof given !== 'string') {
    return refused(given === undefined ? `it has no ${what}.` : `its ${what} is no function.`);
  }
  const source = String(given).trim();
  if (typeof given === 'function' && /\{\s*\[native code\]\s*\}$/.test(source)) {
    return refused(`the source of its ${what} cannot be read: it is bound or built in.`);
  }
  for (const text of [source, asExpression(source)]) {
    const found = functionIn(text);
    if (found === undefined) continue;
    // Without what stands around it: a comment after it would swallow what follows.
    return {
      ok: true,
      source: text.slice(found.start - 1, found.end - 1),
      free: freeNamesOf(found),
    };
  }
  return refused(whyNot(source, what));
}

const refused = (problem: string) => ({ ok: false, problem }) as const;

/** A method (`body(job, cb) {…}`) as an expression. */
function asExpression(source: string): string {
  const name = /^(?:async\s+)?([A-Za-z_$][\w$]*)\s*\(/.exec(source)?.[1];
  return name === undefined ? source : `({ ${source}\n}).${name}`;
}

/** The function that an expression is, or the method that it takes out of an object. */
function functionIn(source: string): Expression | undefined {
  const expression = expressionIn(source);
  const type = expression?.type;
  const isFunction = type === 'FunctionExpression' || type === 'ArrowFunctionExpression';
  const isMethod = type === 'MemberExpression' && source.startsWith('({ ');
  return isFunction || isMethod ? expression : undefined;
}

function expressionIn(source: string): Expression | undefined {
  try {
    const [only, second] = programOf(`(${source}\n)`, 'module').body;
    if (second !== undefined || only?.type !== 'ExpressionStatement') return undefined;
    return only.expression;
  } catch {
    return undefined;
  }
}

function programOf(source: string, sourceType: 'module' | 'script'): Program {
  return parse(source, { ecmaVersion: 'latest', sourceType });
}

function whyNot(source: string, what: string): string {
  try {
    programOf(`(${source}\n)`, 'module');
    return `its ${what} is no function.`;
  } catch (strict) {
    try {
      programOf(`(${source}\n)`, 'script');
      const { message } = strict as Error;
      return `its ${what} is not valid in strict mode, in which plugins run: ${message.replace(/ \(\d+:\d+\)$/, '')}.`;
    } catch (error) {
      const { message } = error as Error;
      return `the source of its ${what} is no JavaScript: ${message.replace(/ \(\d+:\d+\)$/, '')}.`;
    }
  }
}
