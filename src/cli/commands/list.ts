import { z } from 'zod';
import { jobFilters, mostCounted, open, type JobFilter, type Client } from '../../client.js';
import type { Config } from '../../config.js';
import { problem, TwsError } from '../../errors.js';
import type { StoredDocument } from '../../model/parse.js';
import { counted } from '../../words.js';
import { command, numberFlag, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { jobTable } from '../job-table.js';
import { jobFacts } from '../jobs.js';
import { definitionLine, engineFacts, engineLine, pluginLine } from '../lines.js';

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
  limit: numberFlag(1),
  verbose: switchFlag,
});
type Flags = z.infer<typeof flags>;

/** `tws list`: one line each, or whole documents with `--verbose`. */
export const list = command(flags, async ({ flags: said, config: read }, io) => {
  const config = read();
  const filter = filterOf(said);
  const nothing = !said.tasks && !said.flows && !said.jobs && !said.plugins && !said.engines;
  const wants = {
    tasks: said.tasks || (nothing && filter === undefined),
    flows: said.flows || (nothing && filter === undefined),
    jobs: said.jobs || nothing || filter !== undefined,
  };
  const result: Record<string, unknown> = {};
  const { client, close } = open(config);
  try {
    if (said.plugins) result['plugins'] = await listPlugins(client, config, said, io);
    if (wants.tasks) result['tasks'] = await listDefinitions(client, 'task', said, io);
    if (wants.flows) result['flows'] = await listDefinitions(client, 'flow', said, io);
    if (wants.jobs) result['jobs'] = await listJobs(client, filter ?? 'active', said, io);
    if (said.engines) result['engines'] = await listEngines(client, said, io);
  } finally {
    await close();
  }
  io.json(result);
  return 0;
});

function filterOf(said: Flags): JobFilter | undefined {
  const [filter, other] = jobFilters.filter((name) => said[name]);
  if (other === undefined) return filter;
  throw problem('usage', { reason: `--${String(filter)} and --${other} exclude each other.` });
}

async function listDefinitions(
  client: Client,
  kind: 'task' | 'flow',
  { verbose }: Flags,
  io: Io,
): Promise<unknown> {
  const docs = await client.definitions(kind);
  for (const doc of docs) io.out(verbose ? JSON.stringify(doc, null, 2) : definitionLine(doc, io));
  return docs;
}

async function listJobs(
  client: Client,
  filter: JobFilter,
  { verbose, limit = 100 }: Flags,
  io: Io,
): Promise<unknown> {
  const { jobs: found, more, left } = await client.jobs(filter, limit);
  const now = Date.now();
  // Beyond the limit the order is that of the flows, and so are the jobs that are shown.
  const jobs = more ? found : newestFirst(found);
  const lines = verbose ? jobs.map((job) => JSON.stringify(job, null, 2)) : jobTable(jobs, now, io);
  for (const line of lines) io.out(line);
  if (more) {
    const many = left >= mostCounted ? `${mostCounted} or more jobs` : counted(left, 'job');
    io.say(`${many} more not shown; \`--limit N\` shows more than ${limit}.`);
  }
  return verbose ? jobs : jobs.map((job) => jobFacts(job, now));
}

/** New ones first, which have not begun, then by when they began. */
function newestFirst(jobs: readonly StoredDocument[]): readonly StoredDocument[] {
  const at = ({ start }: StoredDocument): number => (typeof start === 'number' ? start : Infinity);
  return [...jobs].sort((a, b) => (at(a) === at(b) ? 0 : at(b) - at(a)));
}

async function listEngines(client: Client, { verbose }: Flags, io: Io): Promise<unknown> {
  const engines = await client.engines();
  const now = Date.now();
  for (const engine of engines) {
    io.out(verbose ? JSON.stringify(engine, null, 2) : engineLine(engine, now, io));
  }
  return engines.map((engine) => engineFacts(engine, now));
}

async function listPlugins(
  client: Client,
  config: Config,
  { verbose }: Flags,
  io: Io,
): Promise<unknown> {
  const { loadProjectPlugins } = await import('../plugins.js');
  const plugins = await loadProjectPlugins(config.plugins);
  const inEngines = await pluginsOfEngines(client);
  const listed = plugins
    .list()
    .map((plugin) =>
      inEngines === undefined ? plugin : { ...plugin, in_engine: inEngines.has(plugin.name) },
    );
  for (const plugin of listed) {
    io.out(verbose ? JSON.stringify(plugin, null, 2) : pluginLine(plugin, io));
  }
  if (listed.some((plugin) => 'in_engine' in plugin && !plugin.in_engine)) {
    io.say('Engines load their plugins when they start: start them again to have the others, too.');
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
