import type { Accounts } from './auth/accounts.js';
import type { Credentials } from './auth/credentials.js';
import type { Databases } from './databases/databases.js';
import type { UpdateLog } from './feeds/update-log.js';
import type { FunctionPool } from './functions/pool.js';
import type { Replications } from './replication/replications.js';
import type { Disk } from './storage/disk.js';

/** What all handlers work with. */
export type ServerContext = {
  readonly databases: Databases;
  readonly pool: FunctionPool;
  readonly credentials: Credentials;
  readonly accounts: Accounts;
  readonly updates: UpdateLog;
  readonly replications: Replications;
  readonly disk: Disk;
  /** Fauxton's files; they may be absent. */
  readonly fauxtonDir: string;
  /** Identity of the server, stable while it runs. */
  readonly uuid: string;
  /** Aborts when the server stops: feeds end then. */
  readonly stopping: AbortSignal;
};
