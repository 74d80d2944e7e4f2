import type { Answer, Rendered, TemplateContext } from '../decide/world.js';
import type { Question } from '../decide/queries.js';
import { NoThreadError } from '../plugin/calculations.js';
import { evaluateExpression } from '../plugin/expression.js';
import { loadJsonata } from '../plugin/late-packages.js';
import { oneLine, readTemplate, renderTemplate } from '../plugin/render.js';
import {
  createTemplateBounds,
  longestTag,
  type TemplateBounds,
} from '../plugin/template-bounds.js';

/**
 * Fills in every template in the strings of `params`. A string that is exactly one `{{path}}` gives
 * the value itself, of any type. `[[label]]` becomes `{{label}}`. Top-level names in `untouched`
 * are left for the plugin, which renders them itself.
 */
export function renderParams(
  params: Params,
  context: TemplateContext,
  untouched: readonly string[],
): Rendered {
  const data = { item: undefined, ...context };
  const bounds = createTemplateBounds();
  // All are counted before the first is filled in: too many cost nothing then.
  const excess = countAll(params, untouched, bounds);
  if (excess !== undefined) return excess;
  const value: Record<string, unknown> = {};
  for (const [key, own] of Object.entries(params)) {
    const found = untouched.includes(key)
      ? mapStrings(own, key, unbracket)
      : mapStrings(own, key, (text) => renderText(text, data, bounds));
    if (!found.ok) return found;
    value[key] = found.value;
  }
  return { ok: true, value };
}

/** Why the templates of a step's parameters have too many tags together, or undefined. */
export function checkTags(params: Params, untouched: readonly string[]): string | undefined {
  return countAll(params, untouched, createTemplateBounds())?.reason;
}

function countAll(
  params: Params,
  untouched: readonly string[],
  bounds: TemplateBounds,
): Extract<Mapped, { ok: false }> | undefined {
  for (const [key, value] of Object.entries(params)) {
    if (untouched.includes(key)) continue;
    const counted = mapStrings(value, key, (text) => countTags(text, bounds));
    if (!counted.ok) return counted;
  }
  return undefined;
}

type Params = Readonly<Record<string, unknown>>;

type Mapped =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly at: string; readonly reason: string };

function mapStrings(value: unknown, at: string, map: (text: string) => unknown): Mapped {
  if (typeof value === 'string') {
    try {
      return { ok: true, value: map(value) };
    } catch (error) {
      return { ok: false, at, reason: error instanceof Error ? error.message : String(error) };
    }
  }
  if (typeof value !== 'object' || value === null) return { ok: true, value };
  return Array.isArray(value) ? mapList(value, at, map) : mapObject(value, at, map);
}

/** The path of a string is built only for an error: there may be tens of thousands of strings. */
function mapList(list: readonly unknown[], at: string, map: (text: string) => unknown): Mapped {
  const copy: unknown[] = [];
  for (const inner of list) {
    const mapped = mapStrings(inner, '', map);
    if (!mapped.ok) return { ...mapped, at: `${at}[${copy.length}]${mapped.at}` };
    copy.push(mapped.value);
  }
  return { ok: true, value: copy };
}

function mapObject(object: object, at: string, map: (text: string) => unknown): Mapped {
  const copy: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(object) as [string, unknown][]) {
    const mapped = mapStrings(inner, '', map);
    if (!mapped.ok) return { ...mapped, at: `${at}.${key}${mapped.at}` };
    if (key === '__proto__') Object.defineProperty(copy, key, { ...own, value: mapped.value });
    else copy[key] = mapped.value;
  }
  return { ok: true, value: copy };
}

const own = { writable: true, enumerable: true, configurable: true } as const;

const bracketed = /\[\[\s*([A-Za-z_][\w .-]*?)\s*\]\]/g;

function unbracket(text: string): string {
  return text.replace(bracketed, '{{$1}}');
}

/** A text that is nothing but one `{{path}}` needs no template. */
function countTags(text: string, { countTags: count }: TemplateBounds): string {
  if (text.includes('{{') && (text.length > longestTag || !sole.test(text))) count(text);
  return text;
}

function renderText(
  text: string,
  data: Readonly<Record<string, unknown>>,
  bounds: TemplateBounds,
): unknown {
  if (!text.includes('{{')) return unbracket(text);
  const path = text.length > longestTag ? undefined : solePath(text);
  if (path === undefined) {
    const template = withPositions(text.replace(bracketed, '\\{{$1}}'));
    return renderTemplate(template, data, false, bounds);
  }
  const value = path.reduce<unknown>(ownValue, data);
  if (value === undefined) throw new Error(`there is no "${path.join('.')}"`);
  bounds.countValue(value);
  return value;
}

function ownValue(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

const segment = String.raw`(?:[^\s.[\]{}()"'#/>!&^|=~*@\`]+|\[[^\]{}]*\])`;
const sole = new RegExp(String.raw`^\{\{\s*(${segment}(?:\.${segment})*)\s*\}\}$`);

/** The parts of the path when a template is nothing but one `{{path}}`. */
function solePath(text: string): readonly string[] | undefined {
  const path = sole.exec(text)?.[1];
  if (path === undefined || path === 'this') return undefined;
  return [...path.matchAll(new RegExp(segment, 'g'))].map(([part]) => part.replace(/^\[|\]$/g, ''));
}

/** Handlebars reads `a.0` at the end of a path only as `a.[0]`. Names in brackets and texts stay as they are. */
export function withPositions(text: string): string {
  return text.replace(
    /(\{\{(?:[^{}["']|\[[^\]{}]*\]|"[^"{}]*"|'[^'{}]*')*?)\.(\d+)(?=[\s}~)])/g,
    '$1.[$2]',
  );
}

/**
 * Why a template cannot be read, or undefined. Tags are not counted: its plugin may render it, or a
 * flow replace it; see `checkTags`.
 */
export function checkTemplate(text: string): string | undefined {
  try {
    readTemplate(withPositions(text));
    return undefined;
  } catch (error) {
    return oneLine(error instanceof Error ? error.message : String(error));
  }
}

/** Why a JSONata expression cannot be read, or undefined. */
export function checkExpression(text: string): string | undefined {
  try {
    loadJsonata()(text);
    return undefined;
  } catch (error) {
    return firstLine(error);
  }
}

/**
 * Evaluates a condition or mapping, within bounds of time and depth. Rejects with a `NoThreadError`
 * when that takes a thread and none can be started now.
 */
export async function evaluate({ expression, context }: Question): Promise<Answer> {
  try {
    return { ok: true, value: await evaluateExpression(expression, context, 1) };
  } catch (error) {
    if (error instanceof NoThreadError) throw error;
    return { ok: false, reason: firstLine(error) };
  }
}

function firstLine(error: unknown): string {
  const { message } = error as { message?: unknown };
  return String(message ?? error).split('\n')[0] ?? '';
}
