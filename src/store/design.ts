import { problem } from '../errors.js';
import { openClient, unexpected, type CouchClient } from './client.js';
import { databasePath, documentPath, type Connection } from './connection.js';
import { designs, readDesign, type DesignName, type DesignSource } from './design-source.js';

/** What installing did, by part: `tasks` (a view), `filters/jobs`, `validate_doc_update`. */
export type Installed = Readonly<Record<string, 'inserted' | 'updated' | 'unchanged'>>;

/**
 * Stores our views, filters and the validation in `_design/<app>` and `_design/<app>_search` of the
 * database. What else is in these documents, above all views that users added, stays; nothing is
 * written when nothing changed.
 * @throws TwsError `couch_not_admin`, `document_conflict` (somebody keeps changing it), and those of
 * `CouchClient.ask`
 */
export async function installDesign(connection: Connection): Promise<Installed> {
  const client = openClient(connection);
  const installed: Record<string, Installed[string]> = {};
  for (const name of designs) Object.assign(installed, await installOne(client, name));
  return installed;
}

async function installOne(client: CouchClient, name: DesignName): Promise<Installed> {
  const source = await readDesign(name);
  const id = designId(client.connection, name);
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const stored = await readStored(client, id);
    const installed = compareDesign(stored, source);
    if (isCurrent(installed)) return installed;
    if (await put(client, id, mergeDesign(stored, source))) return installed;
  }
  throw problem('document_conflict', { id });
}

/** Whether the design documents of the database are those of this version. */
export async function designState(connection: Connection): Promise<'current' | 'old' | 'missing'> {
  const client = openClient(connection);
  for (const name of designs) {
    const stored = await readStored(client, designId(connection, name));
    if (stored === undefined && name === 'design') return 'missing';
    if (!isCurrent(compareDesign(stored, await readDesign(name)))) return 'old';
  }
  return 'current';
}

/** Any design document, as far as it matters here. */
export type StoredDesign = {
  readonly views?: Readonly<Record<string, unknown>>;
  readonly filters?: Readonly<Record<string, unknown>>;
  readonly validate_doc_update?: unknown;
  readonly [key: string]: unknown;
};

/** What has to be done to each of our parts, so that `stored` carries `source`. */
export function compareDesign(stored: StoredDesign | undefined, source: DesignSource): Installed {
  const parts: Record<string, 'inserted' | 'updated' | 'unchanged'> = {};
  for (const [name, { map, reduce }] of Object.entries(source.views)) {
    const view = stored?.views?.[name] as { map?: unknown; reduce?: unknown } | undefined;
    const isReduced = reduce === undefined || view?.reduce === reduce;
    parts[name] = view === undefined || isReduced ? compare(view?.map, map) : 'updated';
  }
  for (const [name, filter] of Object.entries(source.filters)) {
    parts[`filters/${name}`] = compare(stored?.filters?.[name], filter);
  }
  const { validate_doc_update: validate } = source;
  if (validate !== undefined) {
    parts['validate_doc_update'] = compare(stored?.validate_doc_update, validate);
  }
  return parts;
}

function compare(stored: unknown, wanted: string): 'inserted' | 'updated' | 'unchanged' {
  if (stored === undefined) return 'inserted';
  return stored === wanted ? 'unchanged' : 'updated';
}

/** The design document with our parts as they should be and everything else as it is. */
export function mergeDesign(stored: StoredDesign | undefined, source: DesignSource): StoredDesign {
  const views: Record<string, unknown> = { ...stored?.views };
  for (const [name, view] of Object.entries(source.views)) {
    // A reduce that a user added to one of our views stays.
    views[name] = { ...(views[name] as object | undefined), ...view };
  }
  const filters = { ...stored?.filters, ...source.filters };
  return { ...stored, ...source, views, filters };
}

function isCurrent(installed: Installed): boolean {
  return Object.values(installed).every((done) => done === 'unchanged');
}

function designId({ app }: Connection, name: DesignName): string {
  return name === 'design' ? `_design/${app}` : `_design/${app}_${name}`;
}

async function readStored(client: CouchClient, id: string): Promise<StoredDesign | undefined> {
  const { connection } = client;
  const action = 'read the design document';
  const path = databasePath(connection, documentPath(id));
  const reply = await client.ask({ path, action, long: true });
  if (reply.kind === 'answered') return reply.body as StoredDesign;
  if (reply.status === 404) return undefined;
  throw unexpected(connection, action, reply);
}

/** Whether it was stored; false when somebody else was faster. */
async function put(client: CouchClient, id: string, design: StoredDesign): Promise<boolean> {
  const action = 'store the design document';
  const path = databasePath(client.connection, documentPath(id));
  const reply = await client.ask({ method: 'PUT', path, body: design, action, long: true });
  if (reply.kind === 'answered') return true;
  if (reply.status === 409) return false;
  throw unexpected(client.connection, action, reply);
}
