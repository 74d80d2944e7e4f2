import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { openDatabase, prepareDatabase, type JobToSubmit, type Client } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem, TwsError } from '../../errors.js';
import { startBucketServer } from '../../mailbox/bucket-server.js';
import { defaultMailPort, startMailServer, type CaughtMail } from '../../mailbox/mail-server.js';
import type { Mailbox } from '../../mailbox/mailbox.js';
import type { StoredDocument } from '../../model/document.js';
import { createCleanup, type Cleanup } from '../cleanup.js';
import { defineCommand, numberFlag, switchFlag } from '../command.js';
import { runEmbedded, type EmbeddedRun } from '../embedded.js';
import { endEngine, startProjectEngine } from '../engine-run.js';
import { onFreePort } from '../free-port.js';
import type { Io } from '../io.js';
import { exitOf, stateLine } from '../jobs.js';
import { createLog } from '../log.js';
import { leadHere, mailLines } from '../mail.js';
import { commandName } from '../paths.js';
import { shippedFolder } from '../../validate/samples.js';
import { pushFolders } from '../push-project.js';
import { aborted } from '../signals.js';
import { createSteps } from '../steps.js';

const flags = z.object({
  keep: switchFlag,
  dir: z.string().optional(),
  mailPort: numberFlag(0, 65_535),
});
type Flags = z.infer<typeof flags>;

/**
 * `tws quickstart`: one job from the first file to the mail that it sends, all of it on this
 * machine. The exit status is that of the job; whatever was started is ended again.
 */
export const quickstart = defineCommand(flags, async ({ flags: said, config: read }, io) => {
  const cleanup = createCleanup();
  try {
    const place = await placeFor(said, read(), cleanup);
    const ready = await startAll(place, cleanup, io);
    const exit = await runJob(ready, io);
    if (said.keep && !io.stop.aborted) {
      showNext(ready, io);
      await aborted(io.stop);
    } else if (exit === 0) {
      const name = commandName(io.env);
      io.say('');
      io.say(`Next: \`${name} quickstart --keep\` leaves it running,`);
      io.say(`\`${name} new project NAME\` makes your own.`);
    }
    return exit;
  } finally {
    await cleanup.run();
  }
});

type Place = {
  readonly config: Config;
  readonly dir: string;
  readonly keep: boolean;
  readonly mailPort: number | undefined;
};

/** A folder of its own that is removed at the end, unless somebody wants to keep it. */
async function placeFor(
  { keep, dir, mailPort }: Flags,
  config: Config,
  cleanup: Cleanup,
): Promise<Place> {
  if (dir !== undefined) return { config, keep, mailPort, dir: resolve(dir) };
  if (keep) return { config, keep, mailPort, dir: config.embedded.dir };
  const temporary = await mkdtemp(join(tmpdir(), 'tws-quickstart-'));
  cleanup.add(() => rm(temporary, { recursive: true, force: true }));
  return { config, keep, mailPort, dir: temporary };
}

type Ready = {
  readonly client: Client;
  readonly embedded: EmbeddedRun;
  readonly mailbox: Mailbox;
  readonly mails: readonly CaughtMail[];
  /** Where mails for the usual port come to, when that is another one. */
  readonly hint: string | undefined;
};

async function startAll(place: Place, cleanup: Cleanup, io: Io): Promise<Ready> {
  const { config, dir, keep, mailPort } = place;
  const { run } = createSteps(io);
  const wanted = keep ? config.embedded.port : 0;
  const embedded = await run('embedded server', () =>
    onFreePort(wanted, (port) => runEmbedded({ config, dir, port, tell: io.warn })),
  );
  cleanup.add(embedded.stop);
  const mails: CaughtMail[] = [];
  const mailbox = await run('mail server and S3 server', () => startServers(dir, mailPort, mails));
  cleanup.add(mailbox.stop);
  const { hint, undo } = leadHere(mailbox.mail);
  cleanup.add(undo);
  await run('database and design document', () => prepareDatabase(embedded.config));
  await embedded.announce();
  const opened = openDatabase(embedded.config);
  cleanup.add(opened.close);
  const { client } = opened;
  const quiet = { ...io, out: io.say };
  const paths = [join(shippedFolder(), 'tasks'), join(shippedFolder(), 'flows')];
  await run('samples pushed', () => pushFolders({ paths, config: embedded.config, client }, quiet));
  const log = createLog({ level: 'warn' }, io);
  const engine = await run('engine', () =>
    startProjectEngine({
      // Where the server keeps its data the engine keeps its id.
      config: { ...embedded.config, embedded: { ...embedded.config.embedded, dir } },
      opened,
      log,
      signal: io.stop,
      ownsProcess: io.ownsProcess,
      keyless: true,
    }),
  );
  if (engine === undefined) throw problem('interrupted', {});
  cleanup.add(() => endEngine(engine, io.force));
  return { client, embedded, mailbox, mails, hint };
}

/** Somebody else may use the ports of the samples; then the job is told the ones we got. */
async function startServers(
  dir: string,
  port: number | undefined,
  mails: CaughtMail[],
): Promise<Mailbox> {
  const onMail = (mail: CaughtMail): void => {
    mails.push(mail);
  };
  const mail =
    port === undefined
      ? await onFreePort(defaultMailPort, (free) => startMailServer({ dir, onMail, port: free }))
      : await startMailServer({ dir, onMail, port });
  // The mail is what matters here; the S3 server has a package of its own that may be missing.
  const s3 = await startBucketServer({ dir }).catch(async (error: unknown) => {
    if (error instanceof TwsError) return undefined;
    await mail.stop();
    throw error;
  });
  return { mail, s3, stop: async () => void (await Promise.all([mail.stop(), s3?.stop()])) };
}

async function runJob({ client, mailbox, mails }: Ready, io: Io): Promise<number> {
  const { port } = mailbox.mail;
  const order: JobToSubmit = {
    type: 'job',
    flow: 'mailtest',
    owner: 'DEFAULT',
    params: {
      'mail-0': { to: 'you@example.com', ...(port === defaultMailPort ? {} : { smtp: { port } }) },
    },
  };
  const { id } = await client.submit(order);
  io.say('');
  io.say(`submitted: ${JSON.stringify({ _id: id, ...order })}`);
  const job = await client.watch(id, {
    signal: io.stop,
    onChange: (now) => io.say(`  ${stateLine(now, io)}`),
  });
  if (job === undefined) throw problem('interrupted', {});
  const exit = exitOf(job);
  const mail = exit === 0 ? await firstOf(mails) : undefined;
  showResult(job, mail, io);
  if (exit === 0 && mail === undefined) {
    io.fail('The job succeeded, but no mail arrived.');
    return 1;
  }
  return exit;
}

/** The server hands a mail over before it answers, so it is here as a rule. */
async function firstOf(mails: readonly CaughtMail[]): Promise<CaughtMail | undefined> {
  for (let waited = 0; mails.length === 0 && waited < 2_000; waited += 50) await sleep(50);
  return mails[0];
}

function showResult(job: StoredDocument, mail: CaughtMail | undefined, io: Io): void {
  if (mail !== undefined) {
    const title = io.style('bold', 'The mail that arrived:');
    for (const line of ['', title, ...mailLines(mail, io, false)]) io.out(line);
  }
  for (const line of ['', io.style('bold', 'The job, as it is stored now:')]) io.out(line);
  io.block(JSON.stringify(job, null, 2));
  io.json({ mail: mail ?? null, job });
}

function showNext({ embedded, hint }: Ready, io: Io): void {
  const { url, config, files } = embedded;
  const name = commandName(io.env);
  io.say('');
  io.say('It keeps running; Ctrl-C ends all. In another terminal, in this folder, try:');
  io.say(`  ${name} list                              what is stored`);
  io.say(`  ${name} submit templatemail --wait        a mail from a template`);
  io.say(`  ${name} submit mail-to --set to=me@example.com --set subject=Hi --wait`);
  if (hint !== undefined) io.say(`  ${hint}`);
  io.say(`  ${name} submit approval --id a1          a job that waits for a person`);
  io.say(`  ${name} inbox && ${name} answer a1        what waits for whom, and your answer`);
  io.say(`  export COUCH_URL=$(cat ${files.url})`);
  io.say(`  curl -s $COUCH_URL/${config.database}/_all_docs`);
  io.say(`  ${url}/_utils/                            Fauxton, in a browser`);
}
