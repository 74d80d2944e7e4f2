import { TwsError } from '../errors.js';
import { openClient, type CouchClient } from './client.js';
import { serverUrl, type Connection } from './connection.js';
import { countNodes } from './database.js';
import { readDatabase } from './database-state.js';
import { designState, guardState } from './design.js';
import { refuseMoved } from './moved.js';

/** How far one can get with a connection; what could not be asked is left out. */
export type ServerReport = {
  /** Without credentials. */
  readonly url: string;
  readonly reachable: boolean;
  readonly version?: string;
  /** `embedded`: ours; `couchdb`: Apache CouchDB; else what the server calls itself. */
  readonly server?: string;
  /** Whether name and password (or their absence) let us read the database. */
  readonly credentials?: 'accepted' | 'refused';
  readonly database?: 'exists' | 'missing';
  readonly documents?: number;
  /** Nodes of the cluster; only a server admin is told. */
  readonly nodes?: number;
  /** Copies of every document; with more than one, conflicts are not always noticed at once. */
  readonly copies?: number;
  readonly design?: 'current' | 'old' | 'missing';
  readonly guard?: 'installed' | 'left_out';
  /** The first thing that is wrong. */
  readonly problem?: TwsError;
};

/** Looks at server, credentials, database and design document, for `tws doctor`. */
export async function checkServer(connection: Connection): Promise<ServerReport> {
  const client = openClient(connection);
  const url = serverUrl(connection);
  let report: ServerReport = { url, reachable: false };
  try {
    report = { ...report, ...(await welcome(client)), reachable: true };
    await askWhetherUp(client);
    const { documents, copies } = await readDatabase(client);
    report = { ...report, credentials: 'accepted', database: 'exists', documents, copies };
    await refuseMoved(client);
    report = { ...report, ...(await nodesOf(client)), design: await designState(connection) };
    if (report.design !== 'missing') report = { ...report, guard: await guardState(connection) };
    return report;
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    return { ...report, ...meaningOf(error), problem: error };
  }
}

async function welcome(client: CouchClient): Promise<Pick<ServerReport, 'version' | 'server'>> {
  const reply = await client.ask({ path: '/', action: 'say which version it is' });
  if (reply.kind === 'refused') return {};
  const { version, vendor } = reply.body as { version?: unknown; vendor?: { name?: unknown } };
  return {
    ...(typeof version === 'string' ? { version } : {}),
    ...(typeof vendor?.name === 'string' ? { server: shortName(vendor.name) } : {}),
  };
}

/** A server that answers may still be unable to store anything. What hides `_up` is not asked. */
async function askWhetherUp(client: CouchClient): Promise<void> {
  try {
    await client.ask({ path: '/_up', action: 'say that it is up' });
  } catch (error) {
    if (error instanceof TwsError && error.code === 'couch_failed') throw error;
  }
}

function shortName(vendor: string): string {
  if (/apache/i.test(vendor)) return 'couchdb';
  return /tws|embedded/i.test(vendor) ? 'embedded' : vendor;
}

async function nodesOf(client: CouchClient): Promise<Pick<ServerReport, 'nodes'>> {
  try {
    return { nodes: await countNodes(client, 'tell its nodes') };
  } catch {
    return {};
  }
}

function meaningOf({ code }: TwsError): Partial<ServerReport> {
  if (code === 'couch_unreachable') return { reachable: false };
  const refusals = ['couch_unauthorized', 'couch_locked', 'couch_forbidden'];
  if (refusals.includes(code)) return { reachable: true, credentials: 'refused' };
  const missing = code === 'database_missing';
  return { reachable: true, ...(missing ? { database: 'missing' as const } : {}) };
}
