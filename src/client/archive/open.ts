import { resolve } from 'node:path';
import { archiveName, type WrittenArchive } from '../../model/archive.js';
import { percentDecoded } from '../../model/percent.js';
import type { Connection } from '../../store/connection.js';
import type { Archive } from './archive.js';
import { batchArchive } from './batches.js';
import { bucketObjects } from './bucket.js';
import { databaseArchive } from './database.js';
import { folderObjects } from './folder.js';

/** What a written place is seen from. */
export type ArchiveSurroundings = {
  /** The folder of the project: paths and packages are looked for from here. */
  readonly root: string;
  /** The database of the jobs. */
  readonly connection: Connection;
  /** Opens a place; default: as it is written. */
  readonly open?: (place: WrittenArchive) => Archive;
};

/** Opens a place; nothing is sent or made before the first request. */
export function openArchive(
  written: WrittenArchive,
  { root, connection, open }: ArchiveSurroundings,
): Archive {
  if (open !== undefined) return open(written);
  const { folder, database = '', s3 } = written;
  const name = archiveName(written);
  if (folder !== undefined) return batchArchive(folderObjects(resolve(root, folder), name));
  if (s3 !== undefined) return batchArchive(bucketObjects(s3, root, name));
  const there = databaseAt(database, connection);
  return databaseArchive(there, connection, name);
}

function databaseAt(written: string, connection: Connection): Connection {
  if (!written.includes('://')) return { ...connection, database: written };
  const url = new URL(written);
  const parts = url.pathname.split('/').filter((part) => part !== '');
  const database = percentDecoded(parts.pop() ?? '');
  url.pathname = parts.join('/');
  return { ...connection, url: url.href.replace(/\/+$/, ''), database };
}
