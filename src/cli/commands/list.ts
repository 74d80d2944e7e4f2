import { z } from 'zod';
import { openDatabase, type Client, type DefinitionKind } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem, TwsError } from '../../errors.js';
import type { Status } from '../../model/status.js';
import { tagsOf } from '../../model/tags.js';
import { currentAmongOthers } from '../flow-currents.js';
import { isDeprecated } from '../../model/welcome.js';
import { counted } from '../../words.js';
import { defineCommand, listFlag, numberFlag, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { listJobs } from '../job-list.js';
import { jobOrderOf, sortKeys, type JobOrder } from '../job-sort.js';
import { unfinishedStatuses } from '../../model/status.js';
import { searchFor, statusFlag } from '../job-search.js';
import { sinceFlag } from '../since-flag.js';
import { definitionLine, engineFacts, engineLine, pluginLine, workerLine } from '../lines.js';

const newestFirst: JobOrder = { key: 'started', isReversed: false };
const sortFlag = z
  .string()
  .transform((text, context) => {
    const order = jobOrderOf(text);
    const message = `must be one of ${sortKeys.join(', ')}, or one of them after a "-"`;
    if (order === undefined) context.addIssue({ code: 'custom', message });
    return order ?? newestFirst;
  })
  .optional();

const flags = z.object({
  tasks: switchFlag,
  flows: switchFlag,
  jobs: switchFlag,
  active: switchFlag,
  complete: switchFlag,
  failed: switchFlag,
  cancelled: switchFlag,
  all: switchFlag,
  plugins: switchFlag,
  engines: switchFlag,
  views: switchFlag,
  workers: switchFlag,
  flow: z.string().optional(),
  flowVersion: z.string().optional(),
  status: statusFlag,
  failure: z.string().optional(),
  tag: listFlag,
  since: sinceFlag,
  sort: sortFlag,
  limit: numberFlag(1),
  verbose: switchFlag,
});
type Flags = z.infer<typeof flags>;

const jobFilters = ['active', 'complete', 'failed', 'cancelled', 'all'] as const;
/** `complete`: ended, with or without success; `failed`: ended without, but not cancelled. */
type JobFilter = (typeof jobFilters)[number];

const statusesOf: Readonly<Record<JobFilter, readonly Status[] | undefined>> = {
  active: unfinishedStatuses,
  complete: ['succeeded', 'failed'],
  failed: ['failed'],
  cancelled: ['cancelled'],
  all: undefined,
};

/** `tws list`: one line each, or whole documents with `--verbose`. */
export const list = defineCommand(flags, async ({ flags: said, config: read }, io) => {
  const config = read();
  const filter = filterOf(said);
  const wants = wantedBy(said, filter);
  const result: Record<string, unknown> = {};
  const { client, close } = openDatabase(config);
  try {
    if (said.plugins) result['plugins'] = await listPlugins(client, config, said, io);
    if (wants.tasks) result['tasks'] = await listDefinitions(client, 'task', said, io);
    if (wants.flows) result['flows'] = await listDefinitions(client, 'flow', said, io);
    if (wants.jobs) result['jobs'] = await listJobs(client, jobsWanted(said, filter, config), io);
    if (said.views) result['views'] = await listViews(client, said, io);
    Object.assign(result, await listRunning(client, said, io));
  } finally {
    await close();
  }
  io.json(result);
  return 0;
});

/** Without a flag: jobs, and definitions unless jobs are chosen by what they are. */
function wantedBy(said: Flags, filter: JobFilter | undefined) {
  const { tasks, flows, jobs, plugins, engines, views, workers } = said;
  // Tags and --all are about what the other options name.
  const isOfDefinitions = tasks || flows;
  const tag = isOfDefinitions ? undefined : said.tag;
  const state = isOfDefinitions && filter === 'all' ? undefined : filter;
  const choices = [
    state,
    said.flow,
    said.flowVersion,
    said.status,
    said.failure,
    tag,
    said.since,
    said.sort,
  ];
  const chooses = choices.some((choice) => choice !== undefined);
  const nothing = ![tasks, flows, jobs, plugins, engines, views, workers].includes(true);
  return {
    tasks: tasks || (nothing && !chooses),
    flows: flows || (nothing && !chooses),
    jobs: jobs || nothing || chooses,
  };
}

/** Which jobs are listed, and what is said where there is none. */
function jobsWanted(said: Flags, filter: JobFilter | undefined, config: Config) {
  const { verbose, limit = 100, flow, flowVersion, since, failure, tag: tags } = said;
  const { sort: order = newestFirst } = said;
  // A time or a failure is asked for because of jobs that have ended.
  const usual = since === undefined && failure === undefined ? 'active' : 'all';
  const status = said.status ?? statusesOf[filter ?? usual];
  const search = {
    ...searchFor({ flow, flowVersion, status }, config),
    failure,
    tags,
    from: since,
  };
  const isUsual = said.status === undefined && (filter ?? usual) === 'active';
  const chooses = [flow, flowVersion, tags].some((choice) => choice !== undefined);
  const none = isUsual ? (chooses ? noneMatches : noneActive) : 'No job matches.';
  return { search, limit, order, verbose, none };
}

const noneMatches = 'No unfinished job matches; --all lists finished ones, too.';
const noneActive =
  'No job is unfinished; `tws list --jobs --all` shows those that have ended, too.';

/** @throws TwsError `usage` */
function filterOf(said: Flags): JobFilter | undefined {
  const filters = jobFilters.filter((name) => said[name]);
  const [filter, other] = [...filters, ...(said.status === undefined ? [] : ['status' as const])];
  if (filter === 'status') return undefined;
  if (other === undefined) return filter;
  throw problem('usage', { reason: `--${String(filter)} and --${other} exclude each other.` });
}

async function listDefinitions(
  client: Client,
  kind: DefinitionKind,
  { verbose, all, tag: wanted = [] }: Flags,
  io: Io,
): Promise<unknown> {
  const stored = await client.definitions(kind);
  const every = stored.filter((doc) => wanted.every((tag) => tagsOf(doc).includes(tag)));
  const docs = all ? every : every.filter((doc) => !isDeprecated(doc));
  if (stored.length === 0) io.say(`There is no ${kind} yet; \`tws push\` stores some.`);
  else if (every.length === 0) io.say(`No ${kind} has these tags.`);
  const hidden = every.length - docs.length;
  if (hidden > 0) {
    const flows = counted(hidden, `deprecated ${kind} is`, `deprecated ${kind}s are`);
    io.say(`${flows} not shown; --all shows them, too.`);
  }
  const isCurrent = kind === 'flow' ? currentAmongOthers(stored) : () => false;
  for (const doc of docs) {
    if (verbose) io.block(JSON.stringify(doc, null, 2));
    else io.out(definitionLine(doc, io, isCurrent(doc)));
  }
  return docs;
}

async function listViews(client: Client, { verbose }: Flags, io: Io): Promise<unknown> {
  const views = await client.views();
  if (views.length === 0) io.say('There is no view; `tws init` makes those that engines need.');
  for (const view of views) {
    if (verbose) io.block(JSON.stringify(view, null, 2));
    else io.out(`${view.name} => ${view.design}`);
  }
  return views;
}

/** What runs, here or outside. */
async function listRunning(client: Client, said: Flags, io: Io): Promise<object> {
  return {
    ...(said.engines ? { engines: await listEngines(client, said, io) } : {}),
    ...(said.workers ? { workers: await listWorkers(client, said, io) } : {}),
  };
}

async function listEngines(client: Client, { verbose }: Flags, io: Io): Promise<unknown> {
  const engines = await client.engines();
  const now = Date.now();
  if (engines.length === 0) io.say('There is no engine; `tws start` runs one.');
  for (const engine of engines) {
    if (verbose) io.block(JSON.stringify(engine, null, 2));
    else io.out(engineLine(engine, now, io));
  }
  return engines.map((engine) => engineFacts(engine, now));
}

async function listWorkers(client: Client, { verbose }: Flags, io: Io): Promise<unknown> {
  const now = Date.now();
  const workers = await client.workers(now);
  if (workers.length === 0) io.say('There is no worker outside that has given a heartbeat.');
  for (const worker of workers) {
    if (verbose) io.block(JSON.stringify(worker, null, 2));
    else io.out(workerLine(worker, now, io));
  }
  return workers;
}

async function listPlugins(
  client: Client,
  config: Config,
  { verbose }: Flags,
  io: Io,
): Promise<unknown> {
  const { loadProjectPlugins, ownFirst } = await import('../plugins.js');
  const plugins = await loadProjectPlugins(config.plugins);
  const inEngines = await pluginsOfEngines(client);
  const listed = ownFirst(plugins.list()).map((plugin) =>
    inEngines === undefined ? plugin : { ...plugin, in_engine: inEngines.has(plugin.name) },
  );
  for (const plugin of listed) {
    if (verbose) io.block(JSON.stringify(plugin, null, 2));
    else io.out(pluginLine(plugin, io));
  }
  if (listed.some((plugin) => 'in_engine' in plugin && !plugin.in_engine)) {
    io.say('`tws start` loads plugins once: start engines again to have the others, too.');
  }
  return listed;
}

/** What the engines that run have loaded; undefined without a database or without an engine. */
async function pluginsOfEngines(client: Client): Promise<ReadonlySet<string> | undefined> {
  try {
    const now = Date.now();
    const alive = (await client.engines()).filter((engine) => engineFacts(engine, now).alive);
    return alive.length === 0 ? undefined : new Set(alive.flatMap(({ plugins }) => plugins));
  } catch (error) {
    if (error instanceof TwsError) return undefined;
    throw error;
  }
}
