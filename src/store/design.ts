import { problem } from '../errors.js';
import { openClient, unexpected, type CouchClient, databasePath, documentPath } from './client.js';
import type { Connection } from './connection.js';
import { readDesign, type DesignName, type DesignSource } from './design-source.js';
import { isOlderGuard } from './older-guards.js';

/**
 * What installing did, by part: `tasks` (a view), `filters/jobs`, `guard`, and `validate_doc_update`
 * where `_design/<app>` has one: `removed` when it was an earlier guard, `kept` when it is a user's.
 */
export type Installed = Readonly<Record<string, PartInstalled>>;

/** `left_out`: the guard is not there, because somebody chose so. */
export type PartInstalled = 'inserted' | 'updated' | 'unchanged' | 'removed' | 'left_out' | 'kept';

/** `guard`: whether the database has the guard; undefined: as it was chosen before, else with it. */
export type DesignOptions = { readonly guard?: boolean | undefined };

/** The design documents that no database is without. */
const needed = ['design', 'search'] as const;

/**
 * Stores our views and filters in `_design/<app>` and `_design/<app>_search` of the database, and the
 * guard in `_design/<app>_guard`. What else is in these documents, above all views that users added,
 * stays; nothing is written when nothing changed.
 *
 * The choice about the guard needs no record of its own: it is stored first, so a database that has
 * `_design/<app>` and no guard was made without it, or somebody removed it. It comes back only when it
 * is asked for, or when an earlier version kept it in `_design/<app>`, from where it moves.
 * @throws TwsError `couch_not_admin`, `document_conflict` (somebody keeps changing it), and those of
 * `CouchClient.ask`
 */
export async function installDesign(
  connection: Connection,
  { guard }: DesignOptions = {},
): Promise<Installed> {
  const client = openClient(connection);
  const chosen = guard ?? (await isGuarded(client));
  const installed: Record<string, PartInstalled> = {};
  installed['guard'] = chosen ? await installGuard(client) : await removeGuard(client);
  for (const name of needed) Object.assign(installed, await installOne(client, name));
  return installed;
}

/** Whether the guard belongs into the database, as far as nobody says otherwise. */
async function isGuarded(client: CouchClient): Promise<boolean> {
  if ((await guardState(client.connection)) === 'installed') return true;
  const design = await readStored(client, designId(client.connection, 'design'));
  return design === undefined || isOlderGuard(design.validate_doc_update);
}

async function installGuard(client: CouchClient): Promise<PartInstalled> {
  return (await installOne(client, 'guard'))['guard'] ?? 'unchanged';
}

async function installOne(client: CouchClient, name: DesignName): Promise<Installed> {
  const source = await readDesign(name);
  return changing(client, name, (stored) => {
    const installed = compareDesign(stored, source);
    const next = isCurrent(installed) ? undefined : mergeDesign(stored, source);
    return { said: installed, next };
  });
}

/** Removes the guard; what a user added to its document stays. */
async function removeGuard(client: CouchClient): Promise<PartInstalled> {
  return changing(client, 'guard', (stored) => {
    if (stored?.validate_doc_update === undefined) return { said: 'left_out' };
    const { validate_doc_update: _guard, ...rest } = stored;
    const isOurs = (key: string): boolean => ['_id', '_rev', 'language'].includes(key);
    const isEmpty = Object.keys(rest).every(isOurs);
    return { said: 'removed', next: isEmpty ? { ...rest, _deleted: true } : rest };
  });
}

type Changed<T> = { readonly said: T; readonly next?: StoredDesign | undefined };

/** Writes what `change` makes of a design document, once more when somebody else was faster. */
async function changing<T>(
  client: CouchClient,
  name: DesignName,
  change: (stored: StoredDesign | undefined) => Changed<T>,
): Promise<T> {
  const id = designId(client.connection, name);
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const { said, next } = change(await readStored(client, id));
    if (next === undefined || (await put(client, id, next))) return said;
  }
  throw problem('document_conflict', { id });
}

/** Whether the design documents of the database are those of this version; it may have no guard. */
export async function designState(connection: Connection): Promise<'current' | 'old' | 'missing'> {
  const client = openClient(connection);
  for (const name of needed) {
    const stored = await readStored(client, designId(connection, name));
    if (stored === undefined && name === 'design') return 'missing';
    if (!isCurrent(compareDesign(stored, await readDesign(name)))) return 'old';
  }
  const guard = await readStored(client, designId(connection, 'guard'));
  if (guard?.validate_doc_update === undefined) return 'current';
  return isCurrent(compareDesign(guard, await readDesign('guard'))) ? 'current' : 'old';
}

/** Whether the database has the guard, of whichever version. */
export async function guardState(connection: Connection): Promise<'installed' | 'left_out'> {
  const client = openClient(connection);
  const guard = await readStored(client, designId(connection, 'guard'));
  return guard?.validate_doc_update === undefined ? 'left_out' : 'installed';
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
  const parts: Record<string, PartInstalled> = {};
  for (const [name, { map, reduce }] of Object.entries(source.views)) {
    const view = stored?.views?.[name] as { map?: unknown; reduce?: unknown } | undefined;
    const isReduced = reduce === undefined || view?.reduce === reduce;
    parts[name] = view === undefined || isReduced ? compare(view?.map, map) : 'updated';
  }
  for (const [name, filter] of Object.entries(source.filters)) {
    parts[`filters/${name}`] = compare(stored?.filters?.[name], filter);
  }
  return { ...parts, ...compareValidation(stored?.validate_doc_update, source) };
}

function compareValidation(
  stored: unknown,
  { validate_doc_update: guard }: DesignSource,
): Installed {
  if (guard !== undefined) return { guard: compare(stored, guard) };
  if (stored === undefined) return {};
  return { validate_doc_update: isOlderGuard(stored) ? 'removed' : 'kept' };
}

function compare(stored: unknown, wanted: string): PartInstalled {
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
  const { validate_doc_update: validate, ...rest } = stored ?? {};
  const own = isOlderGuard(validate) ? undefined : validate;
  const validation = source.validate_doc_update ?? own;
  return {
    ...rest,
    language: source.language,
    ...(validation === undefined ? {} : { validate_doc_update: validation }),
    ...unlessEmpty('views', views),
    ...unlessEmpty('filters', filters),
  };
}

function unlessEmpty(key: string, parts: Readonly<Record<string, unknown>>): StoredDesign {
  return Object.keys(parts).length === 0 ? {} : { [key]: parts };
}

function isCurrent(installed: Installed): boolean {
  return Object.values(installed).every((done) => done === 'unchanged' || done === 'kept');
}

/** The id of one of our design documents. */
export function designId({ app }: Pick<Connection, 'app'>, name: DesignName): string {
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
