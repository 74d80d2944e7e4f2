import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { problem, type ProblemCode } from '../errors.js';
import { toProblems } from '../model/problems.js';
import { Refused, firstMistakes } from './answers/problems.js';
import type { Api } from './api.js';
import type { Level, Principal } from './access/principal.js';
import { hasTooMany, limits } from '../validate/limits.js';

/**
 * Who may call a route: anybody (`open`), whoever is signed in (`none`), from a level on, or users with the role
 * `tws-sensitive`, whatever their level.
 */
export type Access = 'open' | 'sensitive' | Level;

/** Groups of routes in the reference. */
export const tags = {
  jobs: 'Jobs: submit, find and look at them.',
  requests: 'Asking something of a job: cancel, pause, retry …',
  definitions: 'Tasks and flows.',
  schedules: 'Schedules, which start jobs at times.',
  hooks: 'Hooks: addresses to which other programs send what starts jobs.',
  notify: 'Notify lists: who is told of jobs.',
  sensitive: 'Values about people, kept apart from jobs.',
  operation: 'Engines, figures, health.',
  session: 'Signing in and out.',
  ojs: 'The Open Job Spec: jobs and workers of programs that speak it.',
  node_workflow: 'Clients of node-workflow, on a server whose settings have `http.node_workflow`.',
  reference: 'This reference.',
} as const;
export type Tag = keyof typeof tags;

/** An answer on its way out. Its body becomes JSON without secrets, unless it is of another `type`. */
export type RouteAnswer = {
  readonly status: number;
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A stream of text; `write` resolves when there is room for more. */
export type Sink = { readonly write: (text: string) => Promise<void> };
/** An answer that goes on until it is `done`, or `signal` of the call aborts. */
export type Streaming = {
  readonly status: 200;
  readonly type: string;
  readonly stream: (sink: Sink) => Promise<void>;
};

/** A request as it came in. */
export type RawCall = {
  readonly api: Api;
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  /** Nobody on open routes only. */
  readonly principal: Principal | undefined;
  /** Address, or network, of whoever asks. */
  readonly address: string;
  /** Aborts when whoever asked is gone, or the API ends. */
  readonly signal: AbortSignal;
};

/** A request whose parts were checked. */
export type RouteCall<P, Q, B> = Omit<RawCall, 'params' | 'query' | 'body'> & {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
};

/** A body that a route takes. */
export type BodyOf<B extends z.ZodType> = {
  readonly schema: B;
  readonly description?: string;
  /** Media types; default `application/json`. */
  readonly types?: readonly string[];
  /** `route`: the route checks it itself, with the checks of documents. */
  readonly checkedBy?: 'schema' | 'route';
  readonly optional?: boolean;
  /** Where less than the usual is enough. */
  readonly mostBytes?: number;
  /** Throws when a body of so many bytes is too large; asked before a large one is read. */
  readonly refuseLarge?: (api: Api, params: unknown, bytes: number) => Promise<void>;
  /** The route gets the bytes of the body, of any media type, and whatever stands in the address. */
  readonly isRaw?: true;
};

/** What an answer of a status holds, for the reference. */
export type AnswerDoc = {
  readonly description: string;
  readonly schema?: z.ZodType;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** What a route is, for the server and for the reference alike. */
export type RouteDoc = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** As in OpenAPI: `/jobs/{id}`. */
  readonly path: string;
  /** Not below `/_tws`. */
  readonly atRoot?: boolean;
  /** Whose forms its answers have; absent: ours. */
  readonly facade?: 'ojs';
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Its answer goes on for ever: there is no head of it alone. */
  readonly endless?: boolean;
  /** Its address is what lets somebody in: a page that tells no origin may send to it. */
  readonly isCredential?: true;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Its query may have any names. */
  readonly anyQuery?: true;
  /** Request headers that mean something, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyOf<z.ZodType>;
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Problems it may answer with, beside those that any route may. */
  readonly problems?: readonly ProblemCode[];
};

/** Where the routes are. */
export const prefix = '/_tws';

/** Where the pages of links are; the token follows. */
export const answerPath = `${prefix}/answer/`;

/** The whole path of a route. */
export function fullPath({ path, atRoot }: Pick<RouteDoc, 'path' | 'atRoot'>): string {
  return atRoot === true ? path : `${prefix}${path}`;
}

export type Route = RouteDoc & {
  readonly run: (call: RawCall) => Promise<RouteAnswer | Streaming>;
};

/** A route and the function that answers. */
export type Definition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> = Omit<
  RouteDoc,
  'params' | 'query' | 'body'
> & {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: BodyOf<B>;
  readonly handle: (
    call: RouteCall<z.infer<P>, z.infer<Q>, z.infer<B>>,
  ) => Promise<RouteAnswer | Streaming> | RouteAnswer | Streaming;
};

const nothing = z.object({});

/** Makes a route of its description and the function that answers, which is given checked parts. */
export function route<
  P extends z.ZodObject = typeof nothing,
  Q extends z.ZodObject = typeof nothing,
  B extends z.ZodType = z.ZodUnknown,
>(definition: Definition<P, Q, B>): Route {
  const { handle, ...doc } = definition;
  const { params = nothing as unknown as P, query = nothing as unknown as Q, body } = definition;
  // A schema is compiled when it is first used: this one is the same for all requests.
  const isLoose = body?.isRaw === true || doc.anyQuery === true;
  const ownQuery = isLoose ? query.loose() : query.strict();
  return {
    ...doc,
    run: async (call) =>
      handle({
        ...call,
        params: checked(params, call.params, 'path'),
        query: checked(ownQuery, call.query, 'query') as z.infer<Q>,
        body: bodyOf(body, call.body, doc.facade),
      }),
  };
}

function bodyOf<B extends z.ZodType>(
  body: BodyOf<B> | undefined,
  given: unknown,
  facade: RouteDoc['facade'],
): z.infer<B> {
  if (body === undefined || body.checkedBy === 'route') return given as z.infer<B>;
  const { schema, optional = false } = body;
  if (facade === 'ojs' && given === undefined && !optional) {
    throw problem('json_invalid', { reason: 'there is none.' });
  }
  if (hasTooMany(given)) {
    const reason = `it must not hold more than ${limits.values} values.`;
    throw problem('request_invalid', { part: 'body', reason });
  }
  return checked(schema, given === undefined && optional ? {} : given, 'body');
}

/** @throws Refused with the row `request_invalid` */
function checked<S extends z.ZodType>(schema: S, given: unknown, part: string): z.infer<S> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const strange = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? firstMistakes(issue.keys).map((key) => strangeKey(issue.path, key))
      : [],
  );
  const others = toProblems(
    issues.filter(({ code }) => code !== 'unrecognized_keys'),
    given,
  );
  const found = [...strange, ...others];
  const reason = found[0]?.message ?? '';
  throw new Refused(problem('request_invalid', { part, reason }), found);
}

function strangeKey(path: readonly PropertyKey[], key: string) {
  const at = [...path, key].map(String).join('.');
  return { path: at, message: `"${at}" means nothing here.` };
}
