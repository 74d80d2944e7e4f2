import { addTo } from '../../model/grouped.js';
import type { Client } from '../../client.js';
import type { Config } from '../../config/load.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { engineControlId, everyEngine } from '../../model/engine-control.js';
import { pluginOf } from '../../model/task.js';
import { encryptedIn } from '../../model/encrypted-values.js';
import type { PluginRegistry } from '../../plugin/loader.js';
import { findClearSecrets } from '../../secrets/parameters.js';
import { counted, listed } from '../../words.js';
import { contentHash } from '../files.js';
import { engineFacts, type EngineFacts } from '../lines.js';
import { samples } from '../../validate/samples.js';
import { secretsInDocuments, secretsProblem } from '../stored-secrets.js';
import type { DoctorFinding } from './finding.js';
import { definitionFindings, checkLocks } from './definitions.js';
import { enginesFinding } from './engines.js';
import { checkHooks } from './hooks.js';
import { checkQueueControls } from './queues.js';
import { checkRefused } from './refused.js';
import { checkSchedules } from './schedules.js';
import { sensitiveFindings } from './sensitive.js';
import { namedSecretFindings } from './named-secrets.js';
import { storedOfKind } from '../schedules-and-hooks.js';

/** Jobs that are looked at, at most. */
const mostJobs = 500;

/** Definitions, schedules, hooks, queues, encrypted and clear secrets, engines, locks, and jobs that wait for what no engine has. */
export async function checkDatabase(
  client: Client,
  config: Config,
  plugins: PluginRegistry,
): Promise<readonly DoctorFinding[]> {
  const definitions = [
    ...(await client.definitions('task')),
    ...(await client.definitions('flow')),
  ];
  const schedules = await storedOfKind(client, 'schedule');
  const hooks = await storedOfKind(client, 'hook');
  const secrets = await client.secrets();
  const now = Date.now();
  const engines = (await client.engines()).map((engine) => engineFacts(engine, now));
  const { jobs } = await client.unfinished(mostJobs);
  return [
    ...(await definitionFindings(definitions, plugins)),
    ...(await checkKey([...definitions, ...hooks, ...secrets], config)),
    ...namedSecretFindings(definitions, secrets),
    ...(await sensitiveFindings(definitions, config)),
    ...(await checkSchedules(client, schedules)),
    ...(await checkHooks(client, hooks)),
    ...(await checkQueueControls(client)),
    ...checkClearSecrets([...definitions, ...schedules, ...hooks, ...jobs]),
    enginesFinding(engines, await client.get(engineControlId(everyEngine)), jobs.length),
    ...checkWaiting(jobs, engines),
    ...checkLocks(jobs),
    ...(await checkRefused(client)),
  ];
}

async function checkKey(
  documents: readonly StoredDocument[],
  config: Config,
): Promise<readonly DoctorFinding[]> {
  const what = 'TWS_CRYPTO_KEY';
  const secrets = await secretsInDocuments(documents, config);
  const { holders } = secrets;
  if (holders.length === 0) {
    return [
      { what, verdict: 'ok', says: 'No task, flow, hook or secret holds an encrypted value.' },
    ];
  }
  const wrong = secretsProblem(secrets);
  if (wrong !== undefined) {
    return [{ what, verdict: 'fail', says: wrong.message, todo: wrong.hint }];
  }
  const says = `It opens the encrypted values of ${counted(holders.length, 'document')}.`;
  return [{ what, verdict: 'ok', says }, ...checkVersions(holders)];
}

/** Values of older versions are bound to nothing: who may write definitions can move them. */
function checkVersions(holders: readonly StoredDocument[]): readonly DoctorFinding[] {
  const places = holders.flatMap((doc) =>
    [...encryptedIn(doc)]
      .filter(([, text]) => !text.startsWith('tws:v2:'))
      .map(([field]) => `${field} of ${doc._id}`),
  );
  if (places.length === 0) return [];
  return [
    {
      what: 'encrypted values',
      verdict: 'warn',
      says: `Encrypted with an older version, and not bound to their place: ${listed(places)}.`,
      todo: 'Run `tws encrypt --upgrade`.',
    },
  ];
}

/** Passwords in clear; the samples sign in to servers of this machine with what everybody knows. */
function checkClearSecrets(documents: readonly StoredDocument[]): readonly DoctorFinding[] {
  const shipped = new Set(samples().map(contentHash));
  const clear = documents
    .map((doc) => ({ doc, paths: findClearSecrets(doc) }))
    .filter(({ doc, paths }) => paths.length > 0 && !shipped.has(contentHash(doc)));
  if (clear.length === 0) return [];
  const places = clear.map(({ doc, paths }) => `${doc._id} (${listed(paths)})`);
  return [
    {
      what: 'secrets',
      verdict: 'warn',
      says: `Everybody who can read the database can read the clear ${clear.length === 1 ? 'secret' : 'secrets'} in ${listed(places)}.`,
      todo: 'Put the text that `tws encrypt` prints in its place, and give engines TWS_CRYPTO_KEY.',
    },
  ];
}

/** Plugins that unfinished jobs still need and no living engine has. */
function checkWaiting(
  jobs: readonly StoredDocument[],
  engines: readonly EngineFacts[],
): readonly DoctorFinding[] {
  const alive = engines.filter((engine) => engine.alive);
  if (alive.length === 0) return [];
  const served = new Set(alive.flatMap(({ plugins }) => plugins));
  const waiting = new Map<string, string[]>();
  for (const job of jobs) {
    for (const plugin of pluginsToCome(job)) {
      if (!served.has(plugin)) addTo(waiting, plugin, job._id);
    }
  }
  return [...waiting].map(([plugin, ids]) => ({
    what: `plugin ${plugin}`,
    verdict: 'fail',
    says: `No engine has it; ${counted(ids.length, 'job')} ${ids.length === 1 ? 'needs' : 'need'} it (${listed(ids)}).`,
    todo: 'Put it into the plugins folder of an engine, if it is not there, and start that engine again: plugins are loaded at the start. Else the jobs time out.',
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
