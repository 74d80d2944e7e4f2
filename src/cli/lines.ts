import { renewedAt, usualLeaseMs } from '../client.js';
import type { EngineDocument } from '../model/engine.js';
import { versionName, versionOf } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import { defaultQueue } from '../model/job.js';
import type { StoredDocument } from '../model/document.js';
import { defaultOwner, keyOf, ownerOf } from '../model/task.js';
import type { PluginListing } from '../plugin/loader.js';
import { isDeprecated } from '../model/welcome.js';
import type { WorkerDocument } from '../model/worker.js';
import { counted, momentFrom, textOf } from '../words.js';
import type { Io } from './io.js';

/**
 * `mail => mail-smtp (id)` for a task, `mailtest::DEFAULT => ["mail"] (id)` for a flow,
 * `nightly::me => report (id)` for a schedule. `isCurrent`: of several versions of a flow it is the current one.
 */
export function definitionLine(doc: StoredDocument, io: Io, isCurrent = false): string {
  const { _id, type, enabled } = doc;
  const state = enabled === false ? ' disabled' : isDeprecated(doc) ? ' deprecated' : '';
  const off = state === '' ? '' : io.style('yellow', state);
  const current = isCurrent ? io.style('green', ' current') : '';
  const [name, does] =
    type === 'flow'
      ? flowParts(doc)
      : type === 'schedule' || type === 'hook'
        ? [keyOf(String(doc['name']), ownerOf(doc)), textOf(doc['flow'])]
        : taskParts(doc);
  return `${name} => ${does}${off}${current} ${io.style('dim', `(${_id})`)}`;
}

function taskParts({ name, owner, plugin, flow }: StoredDocument): readonly [string, string] {
  const own = typeof owner === 'string' && owner !== defaultOwner;
  const key = own ? keyOf(String(name), owner) : String(name);
  return [key, typeof flow === 'string' ? `flow ${flow}` : String(plugin ?? name)];
}

function flowParts(doc: StoredDocument): readonly [string, string] {
  const { name, owner, tasks } = doc;
  const key = keyOf(String(name), typeof owner === 'string' ? owner : undefined);
  const version = versionOf(doc);
  const which = version === undefined ? '' : ` ${versionName(version)}`;
  return [`${key}${which}`, JSON.stringify(structureOf(tasks))];
}

/** Names only: entries become their task, sequences lists; other structures name themselves. */
function structureOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(structureOf);
  if (!isObject(node)) return node;
  if (Array.isArray(node['sequence'])) return node['sequence'].map(structureOf);
  const { name, task, structure, flow } = node;
  return name ?? task ?? flow ?? structure ?? '…';
}

/** An engine and whether it still renews its lease, judged by this machine's clock. */
export type EngineFacts = EngineDocument & { readonly alive: boolean };

/** Adds to an engine document whether it lives. */
export function engineFacts(engine: EngineDocument, now: number): EngineFacts {
  const fresh = now - renewedAt(engine) < usualLeaseMs;
  return { ...engine, alive: engine.state !== 'stopped' && fresh };
}

/** `engine:… => running (version 1.2.0, host pid 12, 10 slots, since …)`. */
export function engineLine(engine: EngineDocument, now: number, io: Io): string {
  const { alive } = engineFacts(engine, now);
  const state = alive ? io.style('green', engine.state) : io.style('red', 'lost');
  const labels = engine.labels.length === 0 ? '' : `, labelled ${engine.labels.join(' ')}`;
  const { queues = [defaultQueue] } = engine;
  const usual = queues.length === 1 && queues[0] === defaultQueue;
  const serves = usual ? '' : `, queues ${queues.join(' ')}`;
  const since = new Date(engine.started).toISOString();
  const facts = `version ${engine.version}, ${engine.host} pid ${engine.pid}, ${counted(engine.slots, 'slot')}${labels}${serves}, since ${since}`;
  return `${engine._id} => ${state} ${io.style('dim', `(${facts})`)}`;
}

/** `worker:w1 => running (box pid 7, queues mail, 2 jobs, heard 5s ago)`. */
export function workerLine(
  worker: WorkerDocument & { readonly alive: boolean },
  now: number,
  io: Io,
): string {
  const { _id, alive, wanted, hostname, pid, queues = [], active = 0, seen } = worker;
  const state = alive ? io.style('green', wanted ?? 'running') : io.style('red', 'lost');
  const facts = [
    ...(hostname === undefined ? [] : [`${hostname}${pid === undefined ? '' : ` pid ${pid}`}`]),
    ...(queues.length === 0 ? [] : [`queues ${queues.join(' ')}`]),
    counted(active, 'job'),
    `heard ${momentFrom(now, seen)}`,
  ];
  return `${_id} => ${state} ${io.style('dim', `(${facts.join(', ')})`)}`;
}

/** `hello => ready (file)`, or why it is broken; `in_engine`: whether a running engine has it. */
export function pluginLine(
  {
    name,
    file,
    state,
    description,
    problem,
    in_engine: inEngine,
  }: PluginListing & { readonly in_engine?: boolean },
  io: Io,
): string {
  const about = description === undefined ? '' : `: ${description}`;
  const what =
    state === 'ready'
      ? inEngine === false
        ? `${io.style('yellow', 'on disk only, no running engine has it')}${about}`
        : `${io.style('green', 'ready')}${about}`
      : `${io.style('red', 'broken')}: ${reasonOf({ name, file, problem })}`;
  return `${name} => ${what} ${io.style('dim', `(${file})`)}`;
}

/** Why a plugin is broken, for a place that names it and its file already. */
export function reasonOf({
  name,
  file,
  problem = 'No reason is given.',
}: Pick<PluginListing, 'name' | 'file'> & { readonly problem?: string | undefined }): string {
  return problem.replace(`Plugin ${name} (${file}) cannot be loaded: `, '');
}
