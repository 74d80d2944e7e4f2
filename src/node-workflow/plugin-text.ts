import type { FunctionPlace } from './collect.js';

/** What a plugin file holds: the function itself, or where it is in a module. */
export type PluginParts = {
  /** Of the task. */
  readonly name: string;
  readonly part: 'body' | 'fallback';
} & (
  | {
      readonly source: string;
      /** Variable -> module. */
      readonly imports: Readonly<Record<string, string>>;
      readonly values: Readonly<Record<string, unknown>>;
    }
  | { readonly module: { readonly from: string; readonly place: FunctionPlace } }
);

/** The text of a plugin that does what a task of node-workflow did. */
export function pluginText(parts: PluginParts): string {
  const { name, part } = parts;
  const adapter = part === 'body' ? 'fromNodeWorkflow' : 'fallbackFromNodeWorkflow';
  const about = part === 'body' ? name : `${name}: fallback`;
  const description = `export const description = ${quoted(about)};`;
  if ('module' in parts) {
    const { from, place } = parts.module;
    return lines([
      `import { ${adapter}, functionOf } from 'tws/node-workflow';`,
      `import * as workflows from ${quoted(from)};`,
      '',
      description,
      '',
      `const place = ${JSON.stringify(place, null, 2)};`,
      `export default ${adapter}(await functionOf(workflows, place));`,
    ]);
  }
  const { source, imports, values } = parts;
  const isInfo = imports['info'] === 'tws/node-workflow';
  const others = Object.entries(imports).filter(([variable]) => !(isInfo && variable === 'info'));
  const constants = Object.entries(values).map(
    ([variable, value]) => `const ${variable} = ${JSON.stringify(value) ?? 'undefined'};`,
  );
  return lines([
    `import { ${adapter}${isInfo ? ', info' : ''} } from 'tws/node-workflow';`,
    ...others.map(([variable, from]) => `import ${variable} from ${quoted(from)};`),
    '',
    description,
    '',
    ...constants,
    ...(constants.length === 0 ? [] : ['']),
    `export default ${adapter}(${source});`,
  ]);
}

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;

/** A text as JavaScript writes it, on one line. */
function quoted(text: string): string {
  const json = JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
  return json.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`;
}
