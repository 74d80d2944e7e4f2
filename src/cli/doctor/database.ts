import type { Client } from '../../client.js';
import type { Config } from '../../config.js';
import { isObject } from '../../model/dialects.js';
import type { StoredDocument } from '../../model/parse.js';
import { pluginOf } from '../../model/task.js';
import { decryptDeep, findEncrypted } from '../../secrets/parameters.js';
import { TwsError } from '../../errors.js';
import { engineFacts, type EngineFacts } from '../lines.js';
import type { Finding } from './finding.js';

/** Jobs that are looked at, at most. */
const mostJobs = 500;

/** Encrypted values, engines, and jobs that wait for what no engine has. */
export async function checkDatabase(client: Client, config: Config): Promise<readonly Finding[]> {
  const definitions = [
    ...(await client.definitions('task')),
    ...(await client.definitions('flow')),
  ];
  const now = Date.now();
  const engines = (await client.engines()).map((engine) => engineFacts(engine, now));
  const { jobs } = await client.jobs('active', mostJobs);
  return [
    checkKey(definitions, config),
    checkEngines(engines, jobs.length),
    ...checkWaiting(jobs, engines),
  ];
}

function checkKey(definitions: readonly StoredDocument[], { cryptoKey }: Config): Finding {
  const what = 'TWS_CRYPTO_KEY';
  const holders = definitions.filter((doc) => findEncrypted(doc).length > 0);
  if (holders.length === 0) {
    return { what, verdict: 'ok', says: 'No definition holds an encrypted value.' };
  }
  try {
    for (const doc of holders) decryptDeep(doc, cryptoKey, doc._id);
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    return { what, verdict: 'fail', says: error.message, todo: error.hint };
  }
  return {
    what,
    verdict: 'ok',
    says: `It opens the encrypted values of ${holders.length} documents.`,
  };
}

function checkEngines(engines: readonly EngineFacts[], waiting: number): Finding {
  const alive = engines.filter((engine) => engine.alive);
  const lost = engines.length - alive.length;
  const says = `${alive.length} running${lost === 0 ? '' : `, ${lost} without a sign of life`}; ${waiting} jobs not ended`;
  if (alive.length > 0) return { what: 'engines', verdict: 'ok', says };
  return { what: 'engines', verdict: 'warn', says, todo: 'Start one with `tws start`.' };
}

/** Plugins that unfinished jobs still need and no living engine has. */
function checkWaiting(
  jobs: readonly StoredDocument[],
  engines: readonly EngineFacts[],
): readonly Finding[] {
  const alive = engines.filter((engine) => engine.alive);
  if (alive.length === 0) return [];
  const served = new Set(alive.flatMap(({ plugins }) => plugins));
  const waiting = new Map<string, string[]>();
  for (const job of jobs) {
    for (const plugin of pluginsToCome(job)) {
      if (!served.has(plugin)) waiting.set(plugin, [...(waiting.get(plugin) ?? []), job._id]);
    }
  }
  return [...waiting].map(([plugin, ids]) => ({
    what: `plugin ${plugin}`,
    verdict: 'fail',
    says: `No engine has it; ${ids.length} jobs need it (${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ', …' : ''}).`,
    todo: 'Put it into the plugins folder of an engine and start that again; else the jobs time out.',
  }));
}

/** Plugins of the tasks in a job's snapshot that no step has completed yet. */
function pluginsToCome({ definitions, steps }: StoredDocument): readonly string[] {
  if (!isObject(definitions)) return [];
  const done = new Set(
    (Array.isArray(steps) ? steps : [])
      .filter((step: unknown) => isObject(step) && step['state'] === '$$complete')
      .map((step: { readonly task?: unknown }) => step.task),
  );
  const tasks = Object.entries(definitions).filter(([name]) => !done.has(name));
  return tasks.flatMap(([name, task]) => {
    if (!isObject(task) || typeof task['flow'] === 'string') return [];
    const { plugin } = task;
    return [pluginOf(typeof plugin === 'string' ? { name, plugin } : { name })];
  });
}
