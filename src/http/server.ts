import { BlockList, isIP, isIPv6, type AddressInfo, type Socket } from 'node:net';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createPulse, type Client, type ServerReport } from '../client.js';
import type { Log } from '../log.js';
import { problem } from '../errors.js';
import type { Retain } from '../model/retain.js';
import type { PluginRegistry } from '../plugin/loader.js';
import { createCache } from './access/cache.js';
import { isConfidential } from './access/confidential.js';
import { createIdentify } from './access/identify.js';
import { createLinkRefusals } from './access/link-refusals.js';
import { createRate } from './access/rate.js';
import type { Api, MetricsPort, OpenHook } from './api.js';
import { hookSecrets } from '../model/hook.js';
import { securityHeaders } from './answers/headers.js';
import { toAnswer } from './answers/problems.js';
import { createJobHub, type JobHub } from './feed/hub.js';
import { addDocs } from './docs.js';
import { addPages } from './pages.js';
import { createHookRefusals } from './plumbing/hook-refusals.js';
import { acceptBodies } from './plumbing/bodies.js';
import { answerBadPath, answerBroken } from './plumbing/broken.js';
import { watchConnections } from './plumbing/connections.js';
import { addRoutes, type Doors } from './plumbing/register.js';
import { describeApi } from './reference/document.js';
import type { Route } from './route.js';
import { routes } from './routes.js';
import { workflowRoutes } from './workflows/routes.js';
import { defaultHost, defaultPort, isLoopback } from '../config/address.js';
import { isReachable, isSecure, type HttpSettings } from '../config/http.js';
import { settings as table } from '../config/table.js';

/** What the API is made of. Durations in ms. */
export type ServerOptions = {
  readonly client: Client;
  readonly inspect: () => Promise<ServerReport>;
  readonly settings: HttpSettings;
  /** Folder that files of the settings are relative to. */
  readonly root: string;
  /** The default of `retain`, as in `tws.json`. */
  readonly retain?: Retain | undefined;
  /** `notify` of `tws.json`. */
  readonly notify?: Api['notify'];
  readonly log: Log;
  readonly version: string;
  readonly leaseMs?: number | undefined;
  readonly engine?: Api['engine'];
  readonly metrics?: MetricsPort | undefined;
  readonly plugins?: Pick<PluginRegistry, 'get'> | undefined;
  /** Owners whose jobs may run code in the sandbox; absent: none. */
  readonly scriptOwners?: readonly string[] | undefined;
  /** Absent: there are no sensitive values. */
  readonly sensitive?: Api['sensitive'];
  /** Asked before anything is destroyed by its age. */
  readonly checkClock?: Api['checkClock'];
  /** Absent: hooks have secrets in clear only. */
  readonly openHook?: OpenHook | undefined;
  /** Proves links by which people answer forms; absent: there are none. */
  readonly answerLinks?: Api['answerLinks'];
  /** How long a user or token is believed without asking the database again; default 5000. */
  readonly keepMs?: number;
  /** How long the database may take to tell something; default 25000. */
  readonly patienceMs?: number;
  /** How often streams give a sign of life; default 15000. */
  readonly heartbeatMs?: number;
};

export type HttpServer = {
  /** `http://127.0.0.1:5985`. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

/** Requests that wait at the same time; further ones are answered at once. */
const mostWaits = 500;
/** So long what was found wrong or well is believed, ms. */
const checksMs = 1_000;
/** Attempts to sign in from one address; a limit by name would let anybody lock that user out. */
const signInRate = { perSecond: 0.2, burst: 10 };
/** Deliveries to hooks from one address that are refused before it has to wait. */
const refusalRate = { perSecond: 1, burst: 30 };

/**
 * Starts the API and listens.
 * @throws TwsError `http_port_taken`, `setting_invalid` (files of the certificate)
 */
export async function startHttp(options: ServerOptions): Promise<HttpServer> {
  const { settings, log } = options;
  const { host = defaultHost, port = defaultPort } = settings;
  const { app, close } = await createApp(options);
  try {
    await app.listen({ host, port });
  } catch (error) {
    await close();
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'EADDRINUSE' ? problem('http_port_taken', { port }) : listenProblem(host, error);
  }
  const { port: bound } = app.server.address() as AddressInfo;
  const scheme = settings.tls === undefined ? 'http' : 'https';
  const name = host.includes(':') ? `[${host}]` : host;
  if (!isLoopback(host) && !isSecure(settings)) {
    log.warn(
      { host },
      'Passwords and tokens travel in clear to this address; set "http": {"tls": …} in tws.json, or put a proxy with HTTPS in front and set "public_url".',
    );
  }
  return { url: `${scheme}://${name}:${bound}`, close };
}

function listenProblem(host: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return problem('setting_invalid', { name: 'http.host', origin: host, reason: `${reason}.` });
}

/** Also those of node-workflow, which a setting asks for. */
const withWorkflows: readonly Route[] = [...routes, ...workflowRoutes];

type App = { readonly app: FastifyInstance; readonly close: () => Promise<void> };

async function createApp(options: ServerOptions): Promise<App> {
  const { settings, log, client } = options;
  const { body_limit: bodyLimit = table['http.body_limit'].usual } = settings;
  const headers = securityHeaders(isSecure(settings));
  const app = await createFastify(options, bodyLimit, headers);
  let closing = false;
  const hub = createJobHub({
    client,
    lingerMs: 30_000,
    remembered: 5_000,
    onBroken: (error) => void toAnswer(error, log),
  });
  const doors = doorsOf(options, { bodyLimit, headers, isClosing: () => closing });
  const connections = watchConnections(app.server);
  acceptBodies(app, bodyLimit);
  const served = settings.node_workflow === true ? withWorkflows : routes;
  const api = apiOf(options, hub, served);
  addRoutes(app, served, api, doors);
  await addPages(app);
  await addDocs(app);
  return {
    app,
    close: async () => {
      closing = true;
      for (const one of doors.open) one.abort();
      const endWatch = connections.end(endMs);
      try {
        await app.close();
        await hub.close();
        await api.refusals.end();
      } finally {
        endWatch();
      }
    },
  };
}

/** The server without its routes. @throws TwsError `setting_invalid` (certificate, proxies) */
async function createFastify(
  options: ServerOptions,
  bodyLimit: number,
  headers: Doors['headers'],
): Promise<FastifyInstance> {
  const tls = await certificateOf(options);
  return Fastify({
    ...(tls === undefined ? {} : { https: tls }),
    bodyLimit,
    trustProxy: trustedBy(options.settings),
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    requestTimeout: 60_000,
    // An id of 1,000 characters, as a path writes it.
    routerOptions: { maxParamLength: 9_000 },
    exposeHeadRoutes: true,
    clientErrorHandler: (error: Error, socket: Socket) => answerBroken(error, socket, headers),
    frameworkErrors: (_error: Error, request: FastifyRequest, reply: FastifyReply) =>
      answerBadPath(request, reply, headers, Date.now()),
  } as object);
}

/** So often refused deliveries are written into their hooks, ms. */
const refusalsMs = 10_000;

/** What the routes work with, of what the server was given. */
function apiOf(options: ServerOptions, hub: JobHub, served: readonly Route[]): Api {
  const { client, settings, log, version } = options;
  const open = settings.sign_in !== 'always' && !isReachable(settings);
  const tries = createRate({ ...signInRate, now: steady });
  return {
    client,
    hub,
    pulse: createPulse(options.leaseMs),
    identify: createIdentify({ client, open, keepMs: options.keepMs ?? 5_000, now: steady }),
    log,
    version,
    archives: { usual: options.retain, root: options.root },
    notify: options.notify,
    project: basename(resolve(options.root)),
    inspect: options.inspect,
    checks: createCache(checksMs, steady),
    engine: options.engine,
    metrics: options.metrics,
    plugins: options.plugins,
    openHook: options.openHook ?? (async (_doc, hook) => hookSecrets(hook).map(({ text }) => text)),
    refusals: createHookRefusals({ client, log, now: () => Date.now(), everyMs: refusalsMs }),
    reference: () => describeApi(served, version),
    secure: isSecure(settings),
    trySignIn: (address) => tries.take(address),
    answerLinks: options.answerLinks,
    linkRefusals: createLinkRefusals({ ...signInRate, now: steady, rest: (ms) => sleep(ms) }),
    now: () => Date.now(),
    heartbeatMs: options.heartbeatMs ?? 15_000,
    streams: { most: settings.streams ?? table['http.streams'].usual, open: new Map() },
    scriptOwners: options.scriptOwners ?? [],
    sensitive: options.sensitive,
    checkClock: options.checkClock,
    testDirectives: settings.test_directives === true,
    waits: { most: mostWaits, open: 0 },
  };
}

/** What every request has to pass, by the settings. */
function doorsOf(
  { settings, patienceMs = 25_000 }: ServerOptions,
  own: Pick<Doors, 'bodyLimit' | 'headers' | 'isClosing'>,
): Doors {
  const {
    per_second: perSecond = table['http.rate.per_second'].usual,
    burst = table['http.rate.burst'].usual,
  } = settings.rate ?? {};
  return {
    ...own,
    publicUrl: settings.public_url,
    isConfidential: (arrived) => isConfidential(arrived, settings),
    rate: createRate({ perSecond, burst, now: steady }),
    refusals: createRate({ ...refusalRate, now: steady }),
    // Whoever needs no sign-in is not held up, unless the settings say how often he may ask.
    limitsLocal: settings.rate !== undefined,
    open: new Set(),
    patienceMs,
  };
}

/** A clock that is never set back, ms. */
const steady = (): number => performance.now();

/** So long answers that are under way may take when the server ends, ms; whoever takes longer is left. */
const endMs = 5_000;

/** Whether an address is one of a proxy that is believed. @throws TwsError `setting_invalid` */
function trustedBy({ trust_proxy: proxies }: HttpSettings): false | ((address: string) => boolean) {
  if (proxies === undefined) return false;
  const list = new BlockList();
  for (const one of proxies) {
    const [address = '', bits] = one.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    const length = bits === undefined ? most : Number(bits);
    if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits ?? '0') || length > most) {
      const reason = `${JSON.stringify(one)} is no address and no network such as 10.0.0.0/8.`;
      throw problem('setting_invalid', { name: 'http.trust_proxy', origin: 'tws.json', reason });
    }
    list.addSubnet(address, length, family);
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
    return isIP(plain) !== 0 && list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}

/** The certificate and its key. @throws TwsError `setting_invalid` */
async function certificateOf({ settings: { tls }, root }: ServerOptions) {
  if (tls === undefined) return undefined;
  const read = async (name: 'cert' | 'key'): Promise<Buffer> => {
    try {
      return await readFile(resolve(root, tls[name]));
    } catch (error) {
      const reason = `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`;
      throw problem('setting_invalid', { name: `http.tls.${name}`, origin: 'tws.json', reason });
    }
  };
  const pair = { cert: await read('cert'), key: await read('key') };
  try {
    createSecureContext(pair);
  } catch (error) {
    const reason = `certificate and key do not serve (${error instanceof Error ? error.message : ''}).`;
    throw problem('setting_invalid', { name: 'http.tls', origin: 'tws.json', reason });
  }
  return pair;
}
