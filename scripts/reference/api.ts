import { statusOfProblem } from '../../src/http/answers/problems.js';
import { fullPath, tags, type RouteDoc, type Tag } from '../../src/http/route.js';
import { routes } from '../../src/http/routes.js';
import { workflowRoutes } from '../../src/http/workflows/routes.js';
import { code, page, prose, table } from './markdown.js';

/** All routes of the HTTP API, in short; the server itself serves the rest. */
export function apiPage(): string {
  const all: readonly RouteDoc[] = [...routes, ...workflowRoutes];
  const sections = (Object.keys(tags) as Tag[]).flatMap((tag) => {
    const own = all.filter((route) => route.tag === tag);
    return [
      `## ${tag[0]?.toUpperCase() ?? ''}${tag.slice(1)}`,
      prose(tags[tag]),
      ...own.map(section),
    ];
  });
  return page(
    'API',
    'Every route with its parameters and answers. A running server describes its own version, with the schemas of all bodies, at `/_tws/docs/api` and as OpenAPI 3.1 at `/_tws/openapi.json`. How to use it: [HTTP API](../guides/http-api.md).',
    sections,
  );
}

const levels: Readonly<Record<string, string>> = {
  open: 'Open to everybody.',
  none: 'Needs a sign-in.',
};

function section(route: RouteDoc): string {
  const { method, summary, description = '', access, params, query, headers = {}, body } = route;
  const rows = [
    ...fieldsOf(params).map(([name, about]) => [code(name), 'path', prose(about)]),
    ...fieldsOf(query).map(([name, about]) => [code(name), 'query', prose(about)]),
    ...Object.entries(headers).map(([name, about]) => [code(name), 'header', prose(about)]),
  ];
  const types = body?.types ?? ['application/json'];
  return [
    `### ${method} ${code(fullPath(route))}`,
    prose(summary),
    prose(description),
    levels[access] ?? `Needs the role \`tws-${access}\`.`,
    table(['parameter', 'in', 'meaning'], rows),
    body === undefined
      ? ''
      : `Body: ${types.map(code).join(' or ')}. ${prose(body.description ?? '')}`.trim(),
    table(['answer', 'meaning'], answerRows(route)),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function fieldsOf(schema: RouteDoc['params']): readonly (readonly [string, string])[] {
  return Object.entries(schema?.shape ?? {}).map(([name, one]) => [
    name,
    (one as { readonly description?: string }).description ?? '',
  ]);
}

function answerRows({ answers, problems = [] }: RouteDoc): readonly (readonly string[])[] {
  const good = Object.entries(answers).map(([status, { description }]) => [
    status,
    prose(description),
  ]);
  const bad = problems.map((name) => [
    String(statusOfProblem(name)),
    `[${code(name)}](errors.md#errors-of-commands-and-the-api)`,
  ]);
  return [...good, ...bad];
}
