import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { openDatabase, prepareDatabase, type Opened } from '../../client.js';
import { defaultPort } from '../../config/address.js';
import type { Config } from '../../config/load.js';
import { problem, type TwsError } from '../../errors.js';
import type { HttpServer } from '../../http/server.js';
import { defineCommand, numberFlag, switchFlag } from '../command.js';
import { runEmbedded, type EmbeddedRun } from '../embedded.js';
import {
  endEngine,
  startProjectEngine,
  stopping,
  untilStopped,
  type ProjectEngine,
} from '../engine-run.js';
import { engineFlags } from '../engine-settings.js';
import { apiLine, httpFlag, keepFigures, startApi, type ApiStart } from '../http-run.js';
import type { Io } from '../io.js';
import { createLog } from '../log.js';
import { couchVersionAt, onFreePort } from '../free-port.js';
import { leadHere, mailLines, startMailboxIfPossible, type DevMailboxOptions } from '../mail.js';
import { pushFolders } from '../push-project.js';
import { aborted } from '../signals.js';
import { createCleanup, type Cleanup } from '../cleanup.js';
import { watchPlugins } from '../watch-plugins.js';
import { commandName, shownPath } from '../paths.js';

const flags = z.object({
  port: numberFlag(0, 65_535),
  mailbox: switchFlag,
  mailPort: numberFlag(0, 65_535),
  s3Port: numberFlag(0, 65_535),
  engine: z.boolean().default(true),
  dir: z.string().optional(),
  storage: z.string().optional(),
  ...engineFlags,
  http: httpFlag,
});

/** `tws dev`: server, definitions of the project and an engine, until it is stopped. */
export const dev = defineCommand(flags, async ({ flags: said, config: read }, io) => {
  const settings = read();
  const cleanup = createCleanup();
  try {
    const { dir } = settings.embedded;
    const embedded = await startServer(settings, io);
    cleanup.add(embedded.stop);
    const { config, gone } = embedded;
    // Nothing can be drained into a server that is gone.
    const serverGone = new AbortController();
    void gone.then(() => serverGone.abort());
    const force = AbortSignal.any([io.force, serverGone.signal]);
    const { design } = await prepareDatabase(config);
    await embedded.announce();
    if (wantsMail(said)) {
      await catchMail(dir, { ...said, hasKey: config.cryptoKey !== undefined }, io, cleanup);
    }
    const changed = Object.values(design).filter((done) => done !== 'unchanged').length;
    io.say(`database ${config.database}: ${changed === 0 ? 'ready' : 'design document installed'}`);
    const figures = said.http === false ? undefined : keepFigures();
    const opened = openDatabase(config, figures?.store);
    cleanup.add(opened.close);
    const isWanted = await prepareOwn({ config, opened, withEngine: said.engine }, io);
    const log = createLog({ level: config.logLevel }, io);
    let engine: ProjectEngine | undefined;
    const place = { url: usualUrl(config) };
    if (isWanted) {
      engine = await startProjectEngine({
        config,
        opened,
        log,
        signal: io.stop,
        ownsProcess: io.ownsProcess,
        isTerminal: io.isTerminal && io.mode !== 'json',
        ...{ keyless: true, watched: true },
        meters: figures?.meters,
        served: figures && (() => place.url),
      });
      const started = engine;
      if (started === undefined) return 0;
      cleanup.add(() => endEngine(started, force));
      cleanup.add(watchPlugins(started.plugins, config.plugins, log));
    }
    const api =
      figures && (await startApi({ ...servedBy(engine, io), config, opened, log, figures }));
    if (api !== undefined) {
      place.url = api.url;
      cleanup.add(api.close);
      await embedded.announceApi(api.url);
    }
    greet(embedded, api, io);
    const failure = await Promise.race([untilOver(engine, io), gone]);
    if (!serverGone.signal.aborted) io.say(stopping);
    if (failure !== undefined) throw failure;
    return 0;
  } finally {
    await cleanup.run();
  }
});

/** Starts the embedded server. A usual port that is taken gives way, and the CouchDB there is offered. */
async function startServer(config: Config, io: Io): Promise<EmbeddedRun> {
  const { dir, port: wanted, isPortChosen } = config.embedded;
  const start = (port: number) => runEmbedded({ config, dir, port, tell: io.warn });
  if (isPortChosen) return start(wanted);
  const embedded = await onFreePort(wanted, start);
  const { port } = new URL(embedded.url);
  if (Number(port) === wanted) return embedded;
  const version = await couchVersionAt(wanted);
  const what = version === undefined ? 'Another program' : `CouchDB ${version}`;
  io.say(`${what} uses port ${wanted}, so the embedded server of this folder uses port ${port}.`);
  if (version !== undefined) {
    const name = commandName(io.env);
    io.say(
      `To use that CouchDB instead: set COUCH_URL=http://user:password@127.0.0.1:${wanted}, then \`${name} init\` and \`${name} start\`.`,
    );
  }
  return embedded;
}

type OwnStart = {
  readonly config: Config;
  readonly opened: Opened;
  readonly withEngine: boolean;
};

/** Stores the definitions of the project, unless its database has moved. Returns whether an engine is to start. */
async function prepareOwn({ config, opened, withEngine }: OwnStart, io: Io): Promise<boolean> {
  const to = await opened.store.movedTo();
  if (to === undefined) await pushOwn(config, opened.client, io);
  else tellMoved(problem('database_moved', { database: config.database, to }), io);
  return withEngine && to === undefined;
}

/** Waits until the server has to end: why, when the engine cannot go on. A move ends the engine alone. */
async function untilOver(engine: ProjectEngine | undefined, io: Io): Promise<TwsError | undefined> {
  const failure = await (engine ? untilStopped(engine, io.stop) : aborted(io.stop));
  if (failure?.code !== 'database_moved') return failure ?? undefined;
  tellMoved(failure, io);
  await aborted(io.stop);
  return undefined;
}

/** `tws move` compares both databases after the old one takes no writes any more: its server has to stay. */
function tellMoved(reason: TwsError, io: Io): void {
  for (const line of [reason.message, reason.hint]) io.warn(line);
  io.warn(
    'This server stays for reading until Ctrl-C, without an engine: `tws move` still compares with it.',
  );
}

/** Where the API will be, until it is there. */
const usualUrl = ({ http: { port = defaultPort } }: Config): string => `http://127.0.0.1:${port}`;

/** The engine of this process, as the API tells of it. A port that is taken gives way: this is a try. */
function servedBy(engine: ProjectEngine | undefined, io: Io): Partial<ApiStart> {
  if (engine === undefined) return { mayMove: true };
  const isRunning = (): boolean => !io.stop.aborted;
  return { mayMove: true, engine: { id: engine.id, isRunning }, plugins: engine.plugins };
}

function wantsMail({ mailbox, mailPort, s3Port }: z.infer<typeof flags>): boolean {
  return mailbox || mailPort !== undefined || s3Port !== undefined;
}

type MailOptions = Pick<DevMailboxOptions, 'mailPort' | 's3Port'> & { readonly hasKey: boolean };

async function catchMail(
  dir: string,
  { mailPort, s3Port, hasKey }: MailOptions,
  io: Io,
  cleanup: Cleanup,
): Promise<void> {
  const onMail = (mail: Parameters<typeof mailLines>[0]): void => {
    const title = io.style('cyan', 'A mail has arrived:');
    for (const line of ['', title, ...mailLines(mail, io, true), '']) io.out(line);
  };
  const { mail, s3, stop } = await startMailboxIfPossible({ dir, onMail, mailPort, s3Port }, io);
  cleanup.add(stop);
  if (mail !== undefined) {
    io.say(`mail server:  smtp://127.0.0.1:${mail.port} (kept in ${join(dir, 'mail')})`);
    const { hint, undo } = leadHere(mail);
    cleanup.add(undo);
    for (const line of [hint, hasKey ? undefined : keylessHint])
      if (line !== undefined) io.say(`              ${line}`);
  }
  if (s3 !== undefined) io.say(`S3 server:    ${s3.endpoint} (kept in ${join(dir, 's3')})`);
}

const keylessHint =
  'TWS_CRYPTO_KEY is not set, so links in mails about a form lead to the page of the job, not to an answer link.';

/** The project's tasks and flows; a mistake in a file is told and stops nothing. */
async function pushOwn(
  config: Config,
  client: Parameters<typeof pushFolders>[0]['client'],
  io: Io,
): Promise<void> {
  const own = resolve(config.root, 'couch', 'tws');
  if (!existsSync(own)) {
    const name = commandName(io.env);
    io.say(`No couch/tws here, nothing pushed; \`${name} push --samples\` pushes the samples.`);
    return;
  }
  io.say(`pushing ${shownPath(own, { cwd: io.cwd, root: config.root })}`);
  await pushFolders({ paths: [join(own)], config, client }, io);
}

function greet(embedded: EmbeddedRun, api: HttpServer | undefined, io: Io): void {
  const { url, config } = embedded;
  const place = { cwd: io.cwd, root: config.root };
  io.out(`CouchDB:      ${url}/${config.database}`);
  io.out(`Fauxton:      ${url}/_utils/`);
  if (api !== undefined) io.block(apiLine(api));
  io.out(`user:         ${embedded.user}, password in ${embedded.files.settings}`);
  io.out(`for curl:     export COUCH_URL=$(cat ${shownPath(embedded.files.url, place)})`);
  const name = commandName(io.env);
  io.out(`In this folder other terminals need no settings: try \`${name} submit …\`.`);
  io.out('Ctrl-C ends all.');
  const http = api === undefined ? {} : { http: api.url };
  const fauxton = `${url}/_utils/`;
  io.json({ url, database: config.database, fauxton, ...http, user: embedded.user });
}
