import type { RenderOptions } from './api.js';
import { pluginProblem } from './failures.js';
import { loadHandlebars } from './late-packages.js';
import type { Hide, LateTemplate } from './sensitive.js';
import { createTemplateBounds, type TemplateBounds } from './template-bounds.js';
import { deepestTemplate, nestsTooDeep } from './template-depth.js';
import { parseTemplate, textHelper } from './template-text.js';

type Data = Readonly<Record<string, unknown>>;

/** Those of the templates that are being filled in. */
let bounds = createTemplateBounds();

type Engine = ReturnType<ReturnType<typeof loadHandlebars>['create']>;
type Each = (this: unknown, list: unknown, options: unknown) => string;

let engine: Engine | undefined;

/** Templates in this engine know no `log` (it would print to the console) and three helpers more. */
function makeEngine(): Engine {
  const made = loadHandlebars().create();
  made.unregisterHelper('log');
  made.registerHelper('json', (value: unknown) =>
    counted(isObject(value) ? bounds.jsonOf(value) : JSON.stringify(value)),
  );
  made.registerHelper('encodeURIComponent', (value: unknown) =>
    counted(encodeURIComponent(Array.isArray(value) ? bounds.listOf(value) : String(value))),
  );
  made.registerHelper(textHelper, (value: unknown) =>
    counted(Array.isArray(value) ? bounds.listOf(value) : value),
  );
  const each = made.helpers['each'] as Each;
  made.registerHelper('each', function (this: unknown, list: unknown, options: unknown): string {
    bounds.countRuns(list);
    return each.call(this, list, options);
  });
  return made;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function counted<T>(value: T): T {
  if (typeof value === 'string') bounds.countText(value.length);
  return value;
}

/**
 * Fills in a Handlebars template. A name that `data` does not have is an error, not an empty text;
 * `{{#if name}}` may ask for it. `shared` bounds templates that belong together and whose tags were
 * counted. Throws `TemplateError` (exit 3) with the template's beginning.
 */
export function renderTemplate(
  template: string,
  data: Data,
  html = false,
  shared?: TemplateBounds,
): string {
  try {
    bounds = shared ?? createTemplateBounds();
    if (shared === undefined) bounds.countTags(template);
    engine ??= makeEngine();
    const fill = engine.compile(readTemplate(template), { strict: true, noEscape: !html });
    const left = bounds.textLeft();
    const text = fill(data);
    // What its tags became is counted already.
    bounds.countText(Math.max(0, text.length - (left - bounds.textLeft())));
    return text;
  } catch (cause) {
    throw pluginProblem('TemplateError', { template: beginning(template), reason: reason(cause) });
  }
}

/** Parses a template. Throws where it cannot be read, or nests too deep to be parsed in time. */
export function readTemplate(template: string): ReturnType<typeof parseTemplate> {
  const { helpers } = (engine ??= makeEngine());
  const isHelper = (name: string): boolean => Object.hasOwn(helpers, name);
  if (!nestsTooDeep(template)) return parseTemplate(template, isHelper);
  throw new Error(`its blocks are nested deeper than ${deepestTemplate} levels`);
}

type Render = (template: string, options?: RenderOptions) => string;

type Made = { readonly data: () => Data; readonly late: readonly LateTemplate[] };

/** What each `render` fills in, for whoever must make the same one elsewhere. */
const madeOf = new WeakMap<Render, Made>();

/** Templates that read sensitive values, and what hides the texts that they become. */
type Late = { readonly late: readonly LateTemplate[]; readonly hide: Hide };

/**
 * The `render` of one attempt's context; `data` is asked for when something is rendered. Sensitive values are filled in in
 * the templates of `late` only: a text from elsewhere must not read them.
 */
export function renderer(data: () => Data, { late, hide }: Late): Render {
  const render: Render = (template, options = {}) => {
    const known = data();
    const all = (options.namesOf ?? []).reduce<Data>(
      (names, path) => ({ ...names, ...objectAt(known, path) }),
      known,
    );
    const own = late.find(({ text }) => text === template);
    const names = { ...all, ...options.data };
    if (own === undefined) return renderTemplate(template, names, options.html);
    if (own.values === undefined) return template;
    const text = renderTemplate(template, { ...names, $sensitive: own.values }, options.html);
    hide(text);
    return text;
  };
  madeOf.set(render, { data, late });
  return render;
}

function objectAt(data: Data, path: string): Data {
  const found = path
    .split('.')
    .reduce<unknown>(
      (at, key) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, key)
          ? (at as Data)[key]
          : undefined,
      data,
    );
  return typeof found === 'object' && found !== null ? (found as Data) : {};
}

/** The names that a `render` of `renderer` knows; none for any other function. */
export function renderData(render: Render): Data {
  return madeOf.get(render)?.data() ?? {};
}

/** The templates that read sensitive values in a `render` of `renderer`. */
export function lateTemplatesOf(render: Render): readonly LateTemplate[] {
  return madeOf.get(render)?.late ?? [];
}

const longest = 60;

function beginning(template: string): string {
  const line = template.replace(/\s+/g, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

function reason(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const missing = /^"(.+)" not defined in/.exec(message)?.[1];
  if (missing !== undefined) return `there is no "${missing}"`;
  if (cause instanceof TypeError) return 'a part of one of its paths is missing';
  return oneLine(message);
}

/** The reason of Handlebars without the lines that draw an arrow under the template. */
export function oneLine(message: string): string {
  return message
    .replace(/\n.*\n-*\^\n/, ' ')
    .replace(/\s+/g, ' ')
    .replace(/\.$/, '');
}
