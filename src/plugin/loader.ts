import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { packageRoot } from '../package.js';
import type { PluginContext, PluginModule } from './api.js';
import { pluginProblem } from './failures.js';
import { loadOnBehalfOf, type Caller } from './attribution.js';
import { findPluginFiles, fromSources, type PluginFile } from './find.js';
import { hashOf, isIndexOf } from './hash.js';
import { importPlugin } from './import-plugin.js';
import { isolated } from './isolate.js';
import { eitherContract } from './legacy.js';
import { createReloader, fileHashes, type PluginEntry, type Reloader } from './reload.js';
import { boundParams, type BoundedCheck } from './params.js';
import { errorPlace } from './place.js';

/** A plugin that can be called. */
export type LoadedPlugin = {
  readonly name: string;
  /** The module's file, absolute. */
  readonly file: string;
  /** `sha256:<hex>` of its code, to see whether two attempts ran the same. */
  readonly hash: string;
  readonly module: PluginModule;
  readonly check?: BoundedCheck | undefined;
  /** Runs `init` at the first call, by `call`; the same answer ever after. Rejects with `PluginInitFailed`. */
  readonly start: (call: Caller) => Promise<void>;
};

/** One line of `tws list --plugins`. */
export type PluginListing = {
  readonly name: string;
  readonly file: string;
  readonly description?: string;
  readonly state: 'ready' | 'broken';
  /** One sentence; only when broken. */
  readonly problem?: string;
};

export type PluginRegistry = Reloader & {
  /** The plugin of that name, unless there is none or it is broken. */
  readonly get: (name: string) => LoadedPlugin | undefined;
  /** Names of all plugins that can be called, sorted. */
  readonly names: () => readonly string[];
  /** All plugins, broken ones too, sorted by name. */
  readonly list: () => readonly PluginListing[];
};

export type LoadOptions = {
  /** Folders, the strongest first: where two hold the same name, the first one's is taken. */
  readonly folders: readonly string[];
  /** Called once for each plugin that is broken. */
  readonly log: PluginContext['log'];
  /** Whether `reload` is to find what changes from now on. */
  readonly watched?: boolean;
};

/** The folder of the plugins that come with tws: built ones where this code is built. */
export function shippedPluginFolder(): string {
  return join(packageRoot(), ...(fromSources ? [] : ['dist']), 'plugins');
}

/** In a checkout of tws this folder is the project's, too, and would hide what was built of it. */
const shippedSources = join(packageRoot(), 'plugins');

/**
 * Imports all plugins of these folders and, last, of the shipped one. Never rejects for a plugin's
 * sake: a broken one is listed with its problem; a folder that is not there holds none.
 */
export async function loadPlugins({
  folders: given,
  log,
  watched = false,
}: LoadOptions): Promise<PluginRegistry> {
  const folders = given.filter((folder) => resolve(folder) !== shippedSources);
  const before = watched ? await fileHashes(folders) : undefined;
  const places = [...folders, shippedPluginFolder()];
  const files = await findPluginFiles(places);
  const entries = await Promise.all(files.map((file) => load(file, log)));
  const byName = new Map(entries.map((entry) => [entry.file.name, entry]));
  for (const entry of entries) report(entry, log);
  const ready = (name: string): LoadedPlugin | undefined => {
    const entry = byName.get(name);
    return entry?.problem === undefined ? entry?.plugin : undefined;
  };
  const names = (): readonly string[] => [...byName.keys()].sort();
  const reloader = createReloader({
    files: () => findPluginFiles(places),
    ...{ folders, before },
    load: (file, edition) => load(file, log, edition),
    report: (entry) => report(entry, log),
    byName,
  });
  return {
    get: ready,
    names: () => names().filter((name) => ready(name) !== undefined),
    list: () => names().map((name) => listing(byName.get(name) as Entry)),
    ...reloader,
  };
}

type Entry = PluginEntry<LoadedPlugin>;

function report({ file, problem }: Entry, log: PluginContext['log']): void {
  if (problem !== undefined) log(problem, { plugin: file.name, file: file.path });
}

function listing({ file, plugin, problem }: Entry): PluginListing {
  const description = plugin?.module.description;
  return {
    name: file.name,
    file: file.path,
    ...(description === undefined ? {} : { description }),
    state: problem === undefined ? 'ready' : 'broken',
    ...(problem === undefined ? {} : { problem }),
  };
}

async function load(file: PluginFile, log: PluginContext['log'], edition?: string): Promise<Entry> {
  const entry: Entry = { file };
  try {
    if (file.unsupported !== undefined) throw new Error(file.unsupported);
    const path = await realpath(file.path);
    const hash = await hashOf(path, isIndexOf(file.path, file.name));
    const about = { plugin: file.name };
    const attribution = { plugin: file.name, file: path, about, fail: () => false };
    const shape = await loadOnBehalfOf(attribution, () => importPlugin(path, edition));
    if (shape.kind === 'broken') throw new Error(shape.problem);
    const module =
      shape.kind === 'plugin' ? shape.module : eitherContract(file.name, shape.factory, log);
    const check = module.params === undefined ? undefined : boundParams(module.params);
    const callable = isolated({ name: file.name, file: path }, module);
    const start = startOnce(callable, entry, log);
    entry.plugin = { name: file.name, file: path, hash, module: callable, check, start };
  } catch (error) {
    entry.problem = `Plugin ${file.name} (${file.path}) cannot be loaded: ${placedSentence(error, file)}`;
  }
  return entry;
}

function startOnce(module: PluginModule, entry: Entry, log: PluginContext['log']) {
  const { init } = module;
  const begin = async (call: Caller): Promise<void> => {
    try {
      if (init !== undefined) await call(() => init());
    } catch (cause) {
      const failed = { plugin: entry.file.name, reason: sentence(cause) };
      const error = pluginProblem('PluginInitFailed', failed, cause);
      entry.problem = error.message;
      report(entry, log);
      throw error;
    }
  };
  let started: Promise<void> | undefined;
  return (call: Caller): Promise<void> => (started ??= begin(call));
}

/** The same of what the module threw when it was loaded, with the line in its folder that did. */
function placedSentence(error: unknown, { path }: PluginFile): string {
  const said = sentence(error);
  const at = error instanceof SyntaxError ? undefined : errorPlace(error, dirname(path));
  return at === undefined ? said : `${said} (${at})`;
}

/** The message, with the place in the file that a syntax error's stack begins with. */
function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const [message = ''] = error.message.split('\n');
  const place = /^(?:file:\/\/)?(\/\S+:\d+)\n/.exec(error.stack ?? '')?.[1];
  return error instanceof SyntaxError && place ? `${message} (${place})` : message;
}
