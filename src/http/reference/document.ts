import type { z } from 'zod';
import { problems, type ProblemCode } from '../../errors.js';
import { problemSchema, statusOfProblem } from '../answers/problems.js';
import { requestHeader } from '../access/origin.js';
import { sessionCookie } from '../access/cookies.js';
import { fullPath, tags, type Access, type AnswerDoc, type RouteDoc } from '../route.js';
import { ojsErrorSchema, ojsStatusOf } from '../ojs/problems.js';
import { ojsType } from '../ojs/protocol.js';
import type { OpenApi, Operation } from './openapi.js';
import { createSchemas, type SchemaObject, type Schemas } from './schemas.js';

/** Describes the routes; everything in it comes of what the server itself works with. */
export function describeApi(routes: readonly RouteDoc[], version: string): OpenApi {
  const { paths, schemas } = described.get(routes) ?? describe(routes);
  return {
    openapi: '3.1.0',
    info: {
      title: 'TWS',
      version,
      description: 'Workflows as documents of a CouchDB: the HTTP API.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: sessionCookie },
        token: { type: 'http', scheme: 'bearer' },
      },
    },
    security: [{ session: [] }, { token: [] }],
  };
}

type Described = {
  readonly paths: OpenApi['paths'];
  readonly schemas: OpenApi['components']['schemas'];
};

/** It takes a quarter of a second: however many servers a process starts, it is done once. */
const described = new WeakMap<readonly RouteDoc[], Described>();

function describe(routes: readonly RouteDoc[]): Described {
  const schemas = createSchemas();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    const path = fullPath(route);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  const made = { paths, schemas: schemas.all() };
  described.set(routes, made);
  return made;
}

function operation(route: RouteDoc, schemas: Schemas): Operation {
  const { id, tag, summary, description, body, access } = route;
  const parameters = [
    ...parametersOf(route.params, 'path', schemas),
    ...parametersOf(route.query, 'query', schemas),
    ...headersOf(route),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    responses: responses(route, schemas),
    ...(access === 'open' ? { security: [] } : {}),
    'x-access': access,
  };
}

function parametersOf(
  schema: z.ZodObject | undefined,
  place: 'path' | 'query',
  schemas: Schemas,
): readonly SchemaObject[] {
  return Object.entries(schema?.shape ?? {}).map(([name, one]) => {
    const { description, ...rest } = schemas.reference(one as z.ZodType);
    const required = place === 'path' || !(one as z.ZodType).safeParse(undefined).success;
    return {
      name,
      in: place,
      ...(required ? { required } : {}),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    };
  });
}

function headersOf({ headers = {}, method, access }: RouteDoc): readonly SchemaObject[] {
  const csrf: Readonly<Record<string, string>> =
    method === 'GET' || access === 'open'
      ? {}
      : { [requestHeader]: 'Any value; needed with a session cookie.' };
  return Object.entries({ ...headers, ...csrf }).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: { type: 'string' },
  }));
}

function requestBody(body: NonNullable<RouteDoc['body']>, schemas: Schemas): SchemaObject {
  const { schema, description, types = ['application/json'], optional } = body;
  const isText = (type: string): boolean => type === 'application/x-ndjson';
  const content = types.map((type) => {
    const text = { type: 'string', description: 'One document in each line.' };
    return [type, { schema: isText(type) ? text : schemas.reference(schema) }];
  });
  return {
    ...(description === undefined ? {} : { description }),
    required: optional !== true,
    content: Object.fromEntries(content) as SchemaObject,
  };
}

function responses(route: RouteDoc, schemas: Schemas): Readonly<Record<string, SchemaObject>> {
  const { answers, facade } = route;
  const type = facade === 'ojs' ? { type: ojsType } : {};
  const schema = facade === 'ojs' ? ojsErrorSchema : problemSchema;
  const good = Object.entries(answers).map(
    ([status, answer]) => [status, response({ ...type, ...answer }, schemas)] as const,
  );
  const bad = [...byStatus(route)].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\``).join(', ');
    return [String(status), response({ description, schema, ...type }, schemas)] as const;
  });
  const fallback = response(
    { description: 'Anything else is told in the same form.', schema, ...type },
    schemas,
  );
  const all: Record<string, SchemaObject> = {};
  // A status that a route explains itself stays as it says.
  for (const [status, one] of [...bad, ...good]) all[status] = one;
  return { ...all, default: fallback };
}

function response(answer: AnswerDoc, schemas: Schemas): SchemaObject {
  const { description, schema, type = 'application/json', headers } = answer;
  const media = schema === undefined ? { type: 'string' } : schemas.reference(schema);
  const withBody = schema !== undefined || answer.type !== undefined;
  return {
    description,
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, text]) => [
              name,
              { description: text, schema: { type: 'string' } },
            ]),
          ),
        }),
    ...(withBody ? { content: { [type]: { schema: media } } } : {}),
  };
}

/** Every problem that a route may answer with. */
function problemsOf(route: RouteDoc): readonly ProblemCode[] {
  const { access, method, body, params, query, problems: own = [] } = route;
  const hasBody = body !== undefined;
  const needsDatabase = access !== 'open' || own.includes('sign_in_refused');
  return [
    ...new Set<ProblemCode>([
      ...(hasBody ? (['json_invalid', 'body_too_large', 'media_type_unknown'] as const) : []),
      ...(params !== undefined || query !== undefined || hasBody
        ? (['request_invalid'] as const)
        : []),
      ...(access === 'open' ? [] : (['sign_in_needed', 'token_refused'] as const)),
      ...roleProblems[access],
      ...(method === 'GET' ? [] : (['origin_refused'] as const)),
      ...(method === 'GET' || access === 'open' ? [] : (['csrf_header_missing'] as const)),
      ...(access === 'open' ? [] : (['too_many_requests'] as const)),
      ...(needsDatabase ? (['database_away', 'database_old'] as const) : []),
      ...own,
    ]),
  ];
}

/** What whoever has signed in may be told of roles. */
const roleProblems: Readonly<Record<Access, readonly ProblemCode[]>> = {
  open: [],
  none: [],
  ...{ viewer: ['role_missing'], operator: ['role_missing'], admin: ['role_missing'] },
  sensitive: ['sensitive_refused', 'sensitive_in_clear'],
};

function byStatus(route: RouteDoc): ReadonlyMap<number, readonly ProblemCode[]> {
  const codes = problemsOf(route);
  const statusOf = route.facade === 'ojs' ? ojsStatusOf : statusOfProblem;
  const statuses = [...new Set(codes.map(statusOf))].sort((a, b) => a - b);
  return new Map(
    statuses.map((status) => [status, codes.filter((code) => statusOf(code) === status)]),
  );
}

/** The sentence of a row cannot be shown without its values; its hint can. */
export function hintOf(code: ProblemCode): string {
  return problems[code].hint;
}
