import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../../client.js';
import { isObject } from '../../model/object.js';
import type { StoredDocument } from '../../model/document.js';
import { statusOf } from '../../reading/status.js';
import { ownerOf } from '../../model/task.js';
import { isDeprecated } from '../../model/welcome.js';
import type { Source } from '../command.js';
import type { Candidate, NameCompletion } from './candidates.js';

/** So many jobs are offered, the newest ones. */
const mostJobs = 200;
/** So long a database may take; whoever presses a key does not wait longer. */
const patienceMs = 1_000;

export type Around = {
  readonly cwd: string;
  /** Folder of the project's job files. */
  readonly jobFiles: string;
  /** Opens the database; only called when a name of it is wanted. */
  readonly open: () => Promise<{ readonly client: Client; readonly close: () => Promise<void> }>;
};

/** The names that may stand there. What cannot be found out in time is left out. */
export async function namesFor(
  wanted: NameCompletion,
  around: Around,
): Promise<readonly Candidate[]> {
  const { sources, prefix, begun } = wanted;
  const ofFiles = sources.filter((one) => one === 'file' || one === 'job-file');
  const ofDatabase = sources.filter((one) => one !== 'file' && one !== 'job-file');
  const found = await Promise.all([
    ...ofFiles.map((one) =>
      one === 'file' ? files(begun, around.cwd) : jobFiles(around.jobFiles),
    ),
    ...(ofDatabase.length === 0 ? [] : [inTime(stored(ofDatabase, around))]),
  ]);
  const seen = new Set<string>();
  return found
    .flat()
    .filter(({ value }) => value.startsWith(begun) && !seen.has(value) && seen.add(value))
    .map(({ value, about }) => ({ value: `${prefix}${value}`, about }));
}

async function inTime(names: Promise<readonly Candidate[]>): Promise<readonly Candidate[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly Candidate[]>((resolve) => {
    timer = setTimeout(() => resolve([]), patienceMs);
  });
  try {
    return await Promise.race([names.catch(() => []), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function stored(sources: readonly Source[], { open }: Around): Promise<readonly Candidate[]> {
  const { client, close } = await open();
  try {
    const found = await Promise.all(sources.map((source) => storedAs(source, client)));
    return found.flat();
  } finally {
    await close();
  }
}

async function storedAs(source: Source, client: Client): Promise<readonly Candidate[]> {
  switch (source) {
    case 'flow':
    case 'task':
      return (await client.definitions(source))
        .filter((doc) => !isDeprecated(doc))
        .map((doc) => ({
          value: String(doc['name']),
          about: aboutOf(doc, `${source} of ${ownerOf(doc)}`),
        }));
    case 'schedule':
      return (await client.schedules()).map((doc) => ({
        value: String(doc['name']),
        about: aboutOf(doc, `schedule of ${ownerOf(doc)}`),
      }));
    case 'hook':
      return (await client.hooks()).map((doc) => ({
        value: String(doc['name']),
        about: aboutOf(doc, `hook of ${ownerOf(doc)}`),
      }));
    case 'owner': {
      const flows = await client.definitions('flow');
      return flows.map((doc) => ({ value: ownerOf(doc), about: 'owner' }));
    }
    case 'job': {
      const now = Date.now();
      const { jobs } = await client.search({}, { limit: mostJobs, now });
      return jobs.map((job) => ({
        value: job._id,
        about: `${typeof job['flow'] === 'string' ? job['flow'] : 'job'} ${statusOf(job, now)}`,
      }));
    }
    case 'engine':
      return (await client.engines()).map(({ _id, host, state }) => ({
        value: _id,
        about: `${state} on ${host}`,
      }));
    case 'file':
    case 'job-file':
      return [];
  }
}

function aboutOf({ description }: StoredDocument, otherwise: string): string {
  return typeof description === 'string' && !isObject(description) ? description : otherwise;
}

/** JSON files and folders below what is written. */
async function files(begun: string, cwd: string): Promise<readonly Candidate[]> {
  const folder = begun.slice(0, begun.lastIndexOf('/') + 1);
  const entries = await readdir(join(folder.startsWith('/') ? '/' : cwd, folder), {
    withFileTypes: true,
  }).catch(() => []);
  return entries
    .filter(
      (entry) =>
        !entry.name.startsWith('.') &&
        (entry.isDirectory() || /\.(json|svg|mmd)$/.test(entry.name)),
    )
    .map((entry) => ({
      value: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`,
      about: entry.isDirectory() ? 'folder' : 'file',
    }));
}

async function jobFiles(folder: string): Promise<readonly Candidate[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((name) => name.endsWith('.json') && !name.startsWith('_'))
    .map((name) => ({ value: name.slice(0, -'.json'.length), about: 'job file' }));
}
