import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problem, TwsError } from '../../errors.js';
import { isObject } from '../../model/object.js';
import { principalName } from '../access/owners.js';
import { assertOwnOrigin, originShown } from '../access/origin.js';
import { setCookie } from '../access/cookies.js';
import type { Arrived } from '../access/confidential.js';
import { mayHaveSensitive, reaches, roles, type Principal } from '../access/principal.js';
import { networkOf, type Rate, type RateLeft } from '../access/rate.js';
import { answerOf, toAnswer, type ProblemAnswer } from '../answers/problems.js';
import { withoutSecrets } from '../answers/redact.js';
import type { Api } from '../api.js';
import { fullPath, type RouteAnswer, type Route, type Streaming } from '../route.js';
import { absenceOf, isOjsPath, ojsHeaders, ojsType } from '../ojs/protocol.js';
import { ojsErrorOf } from '../ojs/problems.js';
import { acceptBytes, mediaTypesAt } from './bodies.js';
import { sendStream } from './streams.js';
import { jsonText } from './json-text.js';

/** What every request has to pass. */
export type Doors = {
  /** On every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly publicUrl: string | undefined;
  /** Whether nobody on the way can read a request and its answer. */
  readonly isConfidential: (arrived: Arrived) => boolean;
  readonly rate: Rate;
  /** Of deliveries that were refused, by address: whoever sends too many is not read any more. */
  readonly refusals: Rate;
  readonly limitsLocal: boolean;
  readonly bodyLimit: number;
  /** Of the requests that are answered now: all are aborted when the server ends. */
  readonly open: Set<AbortController>;
  /** Whether the server ends: what comes now is for another one. */
  readonly isClosing: () => boolean;
  /** So long the database may take to tell something before it counts as away, ms. */
  readonly patienceMs: number;
};

/** Makes the server answer the routes, and everything else with a problem. */
export function addRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  api: Api,
  doors: Doors,
): void {
  const guests = new WeakMap<FastifyRequest, Principal>();
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(doors.headers);
    if (isOjsPath(request.url)) reply.headers(ojsHeaders(request.headers, api.now()));
  });
  app.setErrorHandler(async (error, request, reply) => {
    await sendProblem(reply, toAnswer(fastifyProblem(error, request), api.log));
  });
  app.setNotFoundHandler(async (request, reply) => {
    await sendMissing(request, reply, routes);
  });
  const add = (place: FastifyInstance, route: Route): void =>
    addRoute(place, route, { api, doors, guests });
  for (const route of routes.filter(({ body }) => body?.isRaw !== true)) add(app, route);
  void app.register(async (place) => {
    acceptBytes(place);
    for (const route of routes.filter(({ body }) => body?.isRaw === true)) add(place, route);
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    const about = { method, route: routeOptions.url, status: reply.statusCode };
    const ms = Math.round(reply.elapsedTime);
    api.log.debug({ ...about, ms, who: guests.get(request)?.name }, 'A request was answered.');
  });
}

type Around = {
  readonly api: Api;
  readonly doors: Doors;
  /** Who was let in. */
  readonly guests: WeakMap<FastifyRequest, Principal>;
};

function addRoute(app: FastifyInstance, route: Route, { api, doors, guests }: Around): void {
  const isRaw = route.body?.isRaw === true;
  app.route({
    method: route.method,
    url: fullPath(route).replaceAll(/\{(\w+)\}/g, ':$1'),
    exposeHeadRoute: route.endless !== true,
    bodyLimit: Math.min(doors.bodyLimit, route.body?.mostBytes ?? Infinity),
    // Before the body is read: who may not do it sends it in vain.
    onRequest: async (request, reply) => {
      if (isRaw) assertInTime(reply, doors.refusals.wait(networkOf(request.ip)));
      const principal = await admit({ route, request, reply }, api, doors);
      if (principal !== undefined) guests.set(request, principal);
      const bytes = Number(request.headers['content-length'] ?? 0);
      if (bytes > fewBytes) await route.body?.refuseLarge?.(api, request.params, bytes);
    },
    onResponse: async ({ ip }, { statusCode }) => {
      if (isRaw && refusedStatuses.has(statusCode)) doors.refusals.take(networkOf(ip));
    },
    handler: async (request, reply) => {
      const signal = goneSignal(reply, doors.open);
      const running = route.run({
        api,
        params: request.params,
        query: request.query,
        body: request.body,
        headers: request.headers,
        principal: guests.get(request),
        address: networkOf(request.ip),
        signal,
      });
      const answer = await (route.method === 'GET'
        ? inTime(running, request.query, doors.patienceMs)
        : running);
      return send({ route, principal: guests.get(request) }, reply, answer, signal);
    },
  });
}

/** Bodies up to this length are read before anything is looked up. */
const fewBytes = 65_536;

/** Of a delivery that is not proved, goes to a hook that is not there, or is too large. */
const refusedStatuses: ReadonlySet<number> = new Set([401, 404, 413]);

/** So much longer where somebody waits for a change. */
const waitMs = 120_000;

/** Whoever asks for something gets an answer, also while the database takes requests and gives none. */
async function inTime<T>(running: Promise<T>, query: unknown, patienceMs: number): Promise<T> {
  const ms = patienceMs + (isObject(query) && 'wait' in query ? waitMs : 0);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(problem('database_away', {})), ms);
  });
  try {
    return await Promise.race([running, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Lets a request in. @throws TwsError of who may not */
async function admit(asked: Arrival, api: Api, doors: Doors): Promise<Principal | undefined> {
  const { route, request, reply } = asked;
  const { identify, secure } = api;
  if (doors.isClosing() && route.access !== 'open') {
    reply.header('connection', 'close');
    throw problem('not_ready', { reason: 'it is being stopped.' });
  }
  const { method, headers } = request;
  const ip = networkOf(request.ip);
  const { access } = route;
  const isOpen = access === 'open';
  if (access === 'sensitive') assertConfidential(request, doors);
  // Whoever shows ever new credentials would have the database asked each time.
  const late = identify.isKnown(headers) ? undefined : doors.rate.take(`unknown ${ip}`);
  if (!isOpen) assertInTime(reply, late);
  const { principal, byCookie, renewed } = isOpen
    ? await quietly(late === undefined ? () => identify.of(headers) : undefined)
    : await identify.of(headers);
  const { publicUrl, limitsLocal } = doors;
  const loopbackOnly = principal?.kind === 'local';
  assertOwnOrigin(method, originShown(route.isCredential, headers), byCookie && !isOpen, {
    publicUrl,
    loopbackOnly,
  });
  if (!isOpen && (!loopbackOnly || limitsLocal)) {
    countRequest(asked, whoAsks(principal, ip), doors, api.now());
  }
  if (renewed !== undefined) reply.header('set-cookie', setCookie(renewed, secure));
  if (access === 'open') return principal;
  return reaching(principal, access, reply);
}

/** @throws TwsError `sensitive_in_clear` */
function assertConfidential(
  { protocol, socket, headers }: FastifyRequest,
  { isConfidential }: Doors,
): void {
  if (isConfidential({ protocol, from: socket.remoteAddress, headers })) return;
  throw problem('sensitive_in_clear', {});
}

type Arrival = {
  readonly route: Route;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

function whoAsks(principal: Principal | undefined, ip: string): string {
  return principal === undefined ? ip : `${principal.kind} ${principal.name}`;
}

/** @throws TwsError `too_many_requests` */
function countRequest({ route, reply }: Arrival, who: string, { rate }: Doors, now: number): void {
  const seconds = rate.take(who);
  if (route.facade === 'ojs') reply.headers(rateHeaders(rate.left(who), now));
  assertInTime(reply, seconds);
}

/** Who asks, when a route is open to them. @throws TwsError `sign_in_needed`, `role_missing`, `sensitive_refused` */
function reaching(
  principal: Principal | undefined,
  access: Exclude<Route['access'], 'open'>,
  reply: FastifyReply,
): Principal {
  if (principal === undefined) {
    reply.header('www-authenticate', 'Bearer realm="tws"');
    throw problem('sign_in_needed', {});
  }
  if (access === 'sensitive') {
    if (mayHaveSensitive(principal)) return principal;
    throw problem('sensitive_refused', { who: principalName(principal) });
  }
  if (!reaches(principal, access)) {
    const needed = access === 'none' ? roles.viewer : roles[access];
    throw problem('role_missing', { who: principalName(principal), needed });
  }
  return principal;
}

/** How much somebody may still ask, as the Open Job Spec tells it (HTTP binding, section 18). */
function rateHeaders({ limit, remaining, fullInMs }: RateLeft, now: number) {
  return {
    'x-ratelimit-limit': limit,
    'x-ratelimit-remaining': remaining,
    'x-ratelimit-reset': Math.ceil((now + fullInMs) / 1000),
  };
}

/** @throws TwsError `too_many_requests` */
function assertInTime(reply: FastifyReply, seconds: number | undefined): void {
  if (seconds === undefined) return;
  reply.header('retry-after', seconds);
  throw problem('too_many_requests', { seconds });
}

type Nobody = { readonly principal: undefined; readonly byCookie: false; renewed?: undefined };

/** Open routes answer also when nobody can be asked who it is. */
async function quietly<T extends { readonly principal: Principal | undefined }>(
  identify: (() => Promise<T>) | undefined,
): Promise<T | Nobody> {
  const nobody: Nobody = { principal: undefined, byCookie: false };
  try {
    return (await identify?.()) ?? nobody;
  } catch {
    return nobody;
  }
}

/** Aborts when whoever asked has gone, or the server ends. */
function goneSignal({ raw }: FastifyReply, open: Set<AbortController>): AbortSignal {
  const gone = new AbortController();
  open.add(gone);
  raw.once('close', () => {
    open.delete(gone);
    // Nobody is told of an end that has come: a reason with a stack costs as much as a small answer.
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

type Asked = { readonly route: Route; readonly principal: Principal | undefined };

async function send(
  { route, principal }: Asked,
  reply: FastifyReply,
  answer: RouteAnswer | Streaming,
  signal: AbortSignal,
): Promise<FastifyReply> {
  if ('stream' in answer) return sendStream(reply, answer, signal);
  const { status, body, type, headers = {} } = answer;
  reply.code(status).headers(headers);
  if (type !== undefined) return reply.type(type).send(body);
  if (body === undefined) return reply.send();
  reply.type(route.facade === 'ojs' ? ojsType : 'application/json; charset=utf-8');
  // Nobody sees definitions of owners that are not theirs; to admins these are for editing.
  const isForEditing = ['definitions', 'schedules', 'hooks', 'notify'].includes(route.tag);
  const encrypted = isForEditing && principal?.level === 'admin';
  return reply.send(contentOf(route.facade === 'ojs', withoutSecrets(body, { encrypted })));
}

/** The body as text; that of the façade as bytes: its media type has no charset, which a text would get. */
function contentOf(isOjs: boolean, body: unknown): string | Buffer {
  const text = jsonText(body);
  return isOjs ? Buffer.from(text) : text;
}

/** What is away for a time is asked for again after so many seconds. */
const laterSeconds = 5;

async function sendProblem(reply: FastifyReply, answer: ProblemAnswer): Promise<void> {
  const isOjs = isOjsPath(reply.request.url);
  const requestId = String(reply.getHeader('x-request-id') ?? '');
  const { status, body } = isOjs ? ojsErrorOf(answer, requestId) : answer;
  reply.code(status).type(isOjs ? ojsType : 'application/json; charset=utf-8');
  if (status === 503) reply.header('retry-after', laterSeconds);
  await reply.send(contentOf(isOjs, withoutSecrets(body)));
}

/** There is no such route, or it knows other methods. */
async function sendMissing(
  { method, url }: FastifyRequest,
  reply: FastifyReply,
  routes: readonly Route[],
): Promise<void> {
  const [path = ''] = url.split('?');
  const allowed = routes
    .filter((route) => formOf(route).test(path))
    .flatMap((one) =>
      one.method === 'GET' && one.endless !== true ? ['GET', 'HEAD'] : [one.method],
    );
  if (allowed.length === 0) {
    const absence = absenceOf(path);
    if (absence !== undefined)
      return sendProblem(reply, answerOf(problem('ojs_unsupported', absence)));
    return sendProblem(reply, answerOf(problem('route_missing', { method, path })));
  }
  const known = [...new Set(allowed)];
  reply.header('allow', known.join(', '));
  return sendProblem(reply, answerOf(problem('method_wrong', { method, path, allowed: known })));
}

function formOf(route: Route): RegExp {
  const parts = fullPath(route)
    .split(/\{\w+\}/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}

/** What Fastify refuses, in our words. */
function fastifyProblem(error: unknown, request: FastifyRequest): unknown {
  if (error instanceof TwsError) return error;
  const { code } = error as { readonly code?: unknown };
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE': {
      const given = request.headers['content-type'] ?? '';
      return problem('media_type_unknown', {
        given: given.slice(0, 100),
        known: mediaTypesAt(request.url),
      });
    }
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem('body_too_large', { most: request.routeOptions.bodyLimit });
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return problem('json_invalid', { reason: 'it is not as long as its header says.' });
    default: {
      const { statusCode = 500, message = '' } = error as { statusCode?: number; message?: string };
      const isTheirs = typeof code === 'string' && code.startsWith('FST_') && statusCode < 500;
      return isTheirs ? problem('request_invalid', { part: 'request', reason: message }) : error;
    }
  }
}
