import { tags as groups } from '../route.js';
import type { OpenApi, Operation } from './openapi.js';
import type { SchemaObject } from './schemas.js';

/** The reference as a page that needs no script and nothing from elsewhere. */
export function referencePage({ info, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const sections = Object.entries(groups).map(([tag, about]) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag));
    return section(tag, about, own.map(operationHtml).join('\n'));
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<details id="schema-${text(name)}"><summary><code>${text(name)}</code>${about(schema)}</summary>${json(schema)}</details>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TWS HTTP API</title>
<link rel="stylesheet" href="api/style.css">
</head>
<body>
<header>
<h1>TWS HTTP API <small>${text(String(info['version']))}</small></h1>
<p>${text(String(info['description']))} For programs: <a href="../openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
<nav aria-label="Sections">${[...Object.keys(groups), 'schemas'].map((name) => `<a href="#${name}">${name}</a>`).join(' ')}</nav>
</header>
<main>
${sections.join('\n')}
${section('schemas', 'Forms of what is sent and answered.', schemas.join('\n'))}
</main>
</body>
</html>
`;
}

function section(id: string, about: string, content: string): string {
  return `<section id="${text(id)}"><h2>${text(id)}</h2><p>${text(about)}</p>${content}</section>`;
}

type Shown = { readonly method: string; readonly path: string; readonly operation: Operation };

function operationHtml({ method, path, operation }: Shown): string {
  const {
    operationId,
    summary,
    description = '',
    parameters = [],
    requestBody,
    responses,
  } = operation;
  const access = String(operation['x-access']);
  const parts = [
    description === '' ? '' : `<p>${text(description)}</p>`,
    `<p class="access">${accessText(access)}</p>`,
    parameters.length === 0 ? '' : table('Parameters', parameters.map(parameterRow)),
    requestBody === undefined ? '' : `<h3>Body</h3>${content(requestBody)}`,
    table('Answers', Object.entries(responses).map(responseRow)),
  ];
  return `<details id="${text(operationId)}"><summary><span class="method ${text(method)}">${text(method.toUpperCase())}</span> <code>${text(path)}</code> ${text(summary)}</summary>${parts.join('')}</details>`;
}

function accessText(access: string): string {
  if (access === 'open') return 'Open to everybody.';
  if (access === 'none') return 'For whoever is signed in.';
  return `Needs the role <code>tws-${text(access)}</code>.`;
}

function table(title: string, rows: readonly string[]): string {
  return `<h3>${title}</h3><div class="table" tabindex="0" role="region" aria-label="${title}"><table>${rows.join('')}</table></div>`;
}

function parameterRow(parameter: SchemaObject): string {
  const { name, in: place, description = '', required, schema } = parameter;
  const { enum: values } = (schema ?? {}) as { readonly enum?: readonly unknown[] };
  const among =
    values === undefined
      ? ''
      : ` One of ${values.map((one) => `<code>${text(String(one))}</code>`).join(', ')}.`;
  return `<tr><th scope="row"><code>${text(String(name))}</code></th><td>${text(String(place))}${required === true ? ', required' : ''}</td><td>${text(String(description))}${among}</td></tr>`;
}

function responseRow([status, response]: readonly [string, SchemaObject]): string {
  const { description = '' } = response;
  return `<tr><th scope="row">${text(status)}</th><td>${marked(String(description))}</td><td>${content(response)}</td></tr>`;
}

function content(of: SchemaObject): string {
  const media = (of['content'] ?? {}) as Readonly<
    Record<string, { readonly schema?: SchemaObject }>
  >;
  return Object.entries(media)
    .map(([type, { schema = {} }]) => `<p><code>${text(type)}</code> ${schemaHtml(schema)}</p>`)
    .join('');
}

function schemaHtml(schema: SchemaObject): string {
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    const name = $ref.split('/').at(-1) ?? '';
    return `<a href="#schema-${text(name)}">${text(name)}</a>`;
  }
  const any = schema['anyOf'];
  if (Array.isArray(any)) return (any as readonly SchemaObject[]).map(schemaHtml).join(' or ');
  if (schema['type'] === 'array')
    return `list of ${schemaHtml((schema['items'] ?? {}) as SchemaObject)}`;
  return schema['type'] === 'string' ? 'text' : json(schema);
}

function about({ description }: SchemaObject): string {
  return typeof description === 'string' ? ` ${text(description)}` : '';
}

function json(value: SchemaObject): string {
  return `<pre tabindex="0">${text(JSON.stringify(value, null, 2))}</pre>`;
}

/** Text with `code` in it. */
function marked(value: string): string {
  return text(value).replace(/`([^`]*)`/g, '<code>$1</code>');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function text(value: string): string {
  return value.replace(/[&<>"']/g, (letter) => entities[letter] ?? letter);
}

/** The style of the page; light or dark as the reader's system is. */
export const referenceStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 64rem; padding: 1rem; }
header nav a { margin-right: 0.75rem; }
details { border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 6px; margin: 0.5rem 0; padding: 0.4rem 0.8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.method { display: inline-block; font-weight: 700; min-width: 4.5rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { border-top: 1px solid color-mix(in srgb, currentColor 15%, transparent); padding: 0.3rem 0.8rem 0.3rem 0; text-align: left; vertical-align: top; }
td p { margin: 0; }
pre { background: color-mix(in srgb, currentColor 6%, transparent); border-radius: 6px; max-height: 24rem; overflow: auto; padding: 0.8rem; }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
`;
