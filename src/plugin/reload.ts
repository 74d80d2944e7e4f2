import { readdir, readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { dirname, join, sep } from 'node:path';
import type { PluginFile } from './find.js';
import { isIndexOf } from './hash.js';

/** Names of plugins after a reload. */
export type PluginChanges = {
  /** New ones, and ones of which another edition is called from now on. */
  readonly loaded: readonly string[];
  readonly removed: readonly string[];
  /** Those whose newest edition cannot be loaded. */
  readonly broken: readonly string[];
};

/** Loads plugins again. */
export type Reloader = {
  /**
   * Loads again the plugins whose files have changed, and reports which. Attempts that run keep the
   * module they began with. An edition that cannot be loaded is reported, and the last one that could
   * be stays. Never rejects.
   */
  readonly reload: () => Promise<PluginChanges>;
  /** Subscribes a listener to reloads that changed anything; returns what ends that. */
  readonly onReload: (hear: (changes: PluginChanges) => void) => () => void;
};

/** A plugin on file; `problem` may come later, when its `init` fails. */
export type PluginEntry<Plugin> = {
  readonly file: PluginFile;
  plugin?: Plugin;
  problem?: string;
};

export type ReloaderParts<Plugin> = {
  readonly files: () => Promise<readonly PluginFile[]>;
  /** The folders that are looked at for changes: those of the project. */
  readonly folders: readonly string[];
  readonly load: (file: PluginFile, edition: string) => Promise<PluginEntry<Plugin>>;
  readonly report: (entry: PluginEntry<Plugin>) => void;
  /** The files as they were before they were loaded; without it the first reload loads everything again. */
  readonly before: FileHashes | undefined;
  /** What is called now; changed in its place. */
  readonly byName: Map<string, PluginEntry<Plugin>>;
};

/** Hash of each file below some folders by its path. */
export type FileHashes = ReadonlyMap<string, string>;

/**
 * Loads plugins again. A file that belongs to a plugin concerns that one; any other file of the folders,
 * such as `_database.mjs`, concerns all plugins in them.
 */
export function createReloader<Plugin>(parts: ReloaderParts<Plugin>): Reloader {
  const listeners = new Set<(changes: PluginChanges) => void>();
  let known = parts.before ?? new Map<string, string>();
  let last: Promise<unknown> = Promise.resolve();
  const reload = async (): Promise<PluginChanges> => {
    const [before, now] = [known, await fileHashes(parts.folders)];
    known = now;
    const changed = changedFiles(before, now);
    const changes =
      changed.length === 0 ? nothing : await loadChanged(parts, changed, editionOf(now));
    if (Object.values(changes).some((names) => names.length > 0)) {
      for (const hear of listeners) hear(changes);
    }
    return changes;
  };
  return {
    // One after the other: each looks at what the one before it left.
    reload: () => {
      const next = last.then(reload);
      last = next.catch(() => undefined);
      return next;
    },
    onReload: (hear) => {
      listeners.add(hear);
      return () => void listeners.delete(hear);
    },
  };
}

const nothing: PluginChanges = { loaded: [], removed: [], broken: [] };

async function loadChanged<Plugin>(
  { files, folders, load, report, byName }: ReloaderParts<Plugin>,
  changed: readonly string[],
  edition: string,
): Promise<PluginChanges> {
  const found = await files();
  const own = found.filter(({ path }) => folders.some((folder) => path.startsWith(folder + sep)));
  const concerned = concernedBy(changed, own);
  const names = new Set(found.map(({ name }) => name));
  const removed = [...byName.keys()].filter((name) => !names.has(name));
  for (const name of removed) byName.delete(name);
  const wanted = found.filter((file) => {
    const before = byName.get(file.name);
    return before?.file.path !== file.path || concerned.has(file.path);
  });
  const loaded: string[] = [];
  const broken: string[] = [];
  for (const entry of await Promise.all(wanted.map((file) => load(file, edition)))) {
    const { name } = entry.file;
    const isBroken = entry.problem !== undefined;
    report(entry);
    (isBroken ? broken : loaded).push(name);
    // While it is being edited the edition that works goes on working.
    if (!isBroken || byName.get(name)?.plugin === undefined) byName.set(name, entry);
  }
  return { loaded, removed, broken };
}

/** The plugins, by path, that changed files belong to, or all when one belongs to none. */
function concernedBy(
  changed: readonly string[],
  plugins: readonly PluginFile[],
): ReadonlySet<string> {
  const concerned = new Set<string>();
  for (const path of changed) {
    const owner = plugins.find((plugin) => belongs(path, plugin));
    if (owner === undefined) return new Set(plugins.map((plugin) => plugin.path));
    concerned.add(owner.path);
  }
  return concerned;
}

function belongs(path: string, { name, path: main }: PluginFile): boolean {
  return path === main || (isIndexOf(main, name) && path.startsWith(dirname(main) + sep));
}

function changedFiles(before: FileHashes, now: FileHashes): readonly string[] {
  const paths = new Set([...before.keys(), ...now.keys()]);
  return [...paths].filter((path) => before.get(path) !== now.get(path));
}

function editionOf(hashes: FileHashes): string {
  const lines = [...hashes].map(([path, hash]) => `${path} ${hash}`).sort();
  return hashed(lines.join('\n'));
}

/** The files of folders as they are now. */
export async function fileHashes(folders: readonly string[]): Promise<FileHashes> {
  const files = (await Promise.all(folders.map(filesBelow))).flat();
  const entries = await Promise.all(
    files.map(async (path) => [path, await hashOfFile(path)] as const),
  );
  return new Map(entries);
}

/** A file that goes while it is read has changed. */
async function hashOfFile(path: string): Promise<string> {
  return readFile(path).then(hashed, () => 'gone');
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const shown = entries.filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'));
  const files = await Promise.all(
    shown.map(async (entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    }),
  );
  return files.flat();
}

const hashed = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('hex').slice(0, 16);
