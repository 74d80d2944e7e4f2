import { describe, expect, it } from 'vitest';
import { hasOwner } from '../../src/http/access/owners.js';
import { levels, principalOf, type Level } from '../../src/http/access/principal.js';
import { createPrometheus } from '../../src/metrics/prometheus.js';
import { markOf, rows, type CellRequest, type Row } from './access-matrix.js';
import { request } from '../support/couch.js';
import { vaultOf } from '../support/vault.js';
import { openWorkspace } from '../support/workspace.js';
import { openStream } from './events.js';
import { makeUser, openApi, type TestApi } from './server.js';

/** Whose documents there are. */
const owners = ['acme', 'zeta', 'DEFAULT'] as const;

type Operation = {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly access: string;
  readonly isStream: boolean;
};

type Document = {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId: string;
            readonly 'x-access': string;
            readonly responses: Readonly<Record<string, { readonly content?: object }>>;
          }
        >
      >
    >
  >;
};

/** The routes as the server itself tells them. */
async function operationsOf({ ask }: TestApi): Promise<readonly Operation[]> {
  const { body } = await ask<Document>('GET', '/openapi.json');
  return Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId: id, 'x-access': access, responses }]) => ({
      ...{ id, path, access, method: method.toUpperCase() },
      isStream: Object.keys(responses['200']?.content ?? {}).includes('text/event-stream'),
    })),
  );
}

type Visitor = {
  readonly name: string;
  readonly level: Level | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly has: (owner: string) => boolean;
  readonly hasAll: boolean;
  /** Whether it may have sensitive values; absent for those who have no such role at all. */
  readonly sensitive?: boolean;
};

/** Users with the role, and a token with it, which counts for nothing. */
async function sensitiveVisitors(api: TestApi): Promise<readonly Visitor[]> {
  const found: Visitor[] = [];
  for (const roles of [['tws-sensitive', 'tws-owner:acme'], ['tws-sensitive'], ['_admin']]) {
    const principal = principalOf('user', 'x', roles);
    const who = {
      level: principal.level,
      has: (owner: string) => hasOwner(principal, owner),
      hasAll: principal.owners === 'all',
    };
    const authorization = `Bearer ${await api.tokenOf(...roles)}`;
    const token = { ...who, headers: { authorization }, sensitive: false };
    found.push({ ...token, name: `token ${roles.join('+')}` });
    if (roles.includes('_admin')) continue;
    const headers = await sessionOf(api, ...roles);
    found.push({ ...who, name: `user ${roles.join('+')}`, headers, sensitive: true });
  }
  return found;
}

/** Headers of a new user with these roles. */
async function sessionOf(api: TestApi, ...roles: readonly string[]) {
  const answer = await api.ask('POST', '/session', { body: await makeUser(...roles) });
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { cookie, 'x-tws-request': '1' };
}

/** Nobody, a token of every level for one owner, for all and for none, and users with sessions. */
async function visitors(api: TestApi): Promise<readonly Visitor[]> {
  const found: Visitor[] = [
    { name: 'nobody', level: undefined, headers: {}, has: () => false, hasAll: false },
  ];
  for (const level of levels) {
    for (const own of ['acme', '*', undefined]) {
      const role = level === 'none' ? [] : [`tws-${level}`];
      const roles = [...role, ...(own === undefined ? [] : [`tws-owner:${own}`])];
      if (roles.length === 0) continue;
      const principal = principalOf('token', 'x', roles);
      const who = {
        level,
        has: (owner: string) => hasOwner(principal, owner),
        hasAll: principal.owners === 'all',
      };
      const authorization = `Bearer ${await api.tokenOf(...roles)}`;
      found.push({ ...who, name: `token ${roles.join('+')}`, headers: { authorization } });
      if (own === '*') continue;
      const headers = await sessionOf(api, ...roles);
      found.push({ ...who, name: `user ${roles.join('+')}`, headers });
    }
  }
  return found;
}

/** The document that a cell is about, if there has to be one. */
function seed(id: string, owner: string, { seed: kind }: Row): readonly object[] {
  const job = { _id: id, type: 'job', flow: 'f', owner, tags: [markOf(owner)] };
  const ended = {
    state: '$$complete',
    start: 1,
    end: 2,
    exit: 2,
    tasks: { structure: 'sequence', sequence: [] },
    steps: [],
  };
  const described = { _id: id, name: id, owner, description: markOf(owner) };
  if (kind === undefined) return [];
  switch (kind) {
    case 'job':
      return [job];
    case 'failed':
      return [{ ...job, ...ended, definitions: {}, flow_definition: { name: 'f' } }];
    case 'flow':
      return [{ ...described, type: 'flow', tasks: [] }];
    case 'task':
      return [{ ...described, type: 'task', plugin: 'noop' }];
    case 'schedule':
      return [{ ...described, type: 'schedule', flow: 'f', at: ['2099-01-01T00:00:00Z'] }];
    case 'hook':
      return [{ ...described, type: 'hook', flow: 'f', check: 'none' }];
  }
}

type Reply = { readonly status: number; readonly text: string };

async function send(
  api: TestApi,
  { method, path, isStream }: Operation,
  { path: filled = {}, query = '', body }: CellRequest,
  headers: Readonly<Record<string, string>>,
): Promise<Reply> {
  const whole = `${path.replaceAll(/\{(\w+)\}/g, (_all, key: string) => filled[key] ?? 'nix')}${query}`;
  if (!isStream) {
    return api.ask(method, whole, { headers, ...(body === undefined ? {} : { body }) });
  }
  const stream = await openStream(`${api.url}${whole}`, headers);
  stream.close();
  return { status: stream.status, text: '' };
}

/** What the promise says: refused by level, by owner, absent, or one of the statuses of the row. */
function promised(row: Row, visitor: Visitor, owner: string): readonly number[] {
  if (row.access === 'open') return row.ok;
  if (visitor.level === undefined) return [401];
  if (row.access === 'sensitive') {
    return visitor.sensitive === true && visitor.has(owner) ? row.ok : [403];
  }
  if (levels.indexOf(visitor.level) < levels.indexOf(row.access)) return [403];
  switch (row.about) {
    case 'document':
      return visitor.has(owner) ? row.ok : [row.foreign ?? 404];
    case 'owner':
      return visitor.has(owner) ? row.ok : [403];
    case 'all':
      return visitor.hasAll ? row.ok : [403];
    case 'own':
      return row.ok;
  }
}

/** One request of the matrix, about the document `id`. */
type Cell = {
  readonly operation: Operation;
  readonly row: Row;
  readonly visitor: Visitor;
  readonly owner: string;
  readonly id: string;
};

function cellsOf(operation: Operation, everybody: readonly Visitor[]): readonly Cell[] {
  const row = rows[operation.id] as Row;
  const concerned = row.about === 'document' || row.about === 'owner' ? owners : ['acme'];
  return everybody.flatMap((visitor) => {
    // It would end the session of the other cells.
    if (operation.id === 'signOut' && visitor.name.startsWith('user')) return [];
    if (visitor.sensitive !== undefined && row.access !== 'sensitive') return [];
    return concerned.map((owner) => {
      return { operation, row, visitor, owner, id: `x${crypto.randomUUID()}` };
    });
  });
}

/** What is wrong about the answer to a cell. */
async function faultsOf(api: TestApi, cell: Cell): Promise<readonly string[]> {
  const { operation, row, visitor, owner, id } = cell;
  const request = row.ask?.(owner, id) ?? {};
  const { status, text } = await send(api, operation, request, visitor.headers);
  const wanted = promised(row, visitor, owner);
  const about = `${operation.id} by ${visitor.name} for ${owner}`;
  const leaked = owners.filter((one) => !visitor.has(one) && text.includes(markOf(one)));
  return [
    ...(wanted.includes(status)
      ? []
      : [`${about}: ${status}, not ${wanted.join(' or ')}: ${text.slice(0, 200)}`]),
    ...(leaked.length === 0 ? [] : [`${about}: tells of ${leaked.join(', ')}`]),
  ];
}

/** Stores many documents with few requests. */
async function store({ store: { connection } }: TestApi, docs: readonly object[]): Promise<void> {
  for (let at = 0; at < docs.length; at += 500) {
    const { status } = await request('POST', `/${connection.database}/_bulk_docs`, {
      body: { docs: docs.slice(at, at + 500) },
    });
    expect(status).toBe(201);
  }
}

/** Runs it for each, some at a time. */
async function together<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const rest = [...all];
  const worker = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) await run(one);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

describe('the access matrix', () => {
  it('has a row for every route of the OpenAPI document, with the access that it tells', async () => {
    const operations = await operationsOf(await openApi());
    expect(Object.keys(rows).toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
    for (const { id, access } of operations) expect([id, access]).toEqual([id, rows[id]?.access]);
  });

  it('holds in every cell: route, role, whose roles, and whose document', async () => {
    const workspace = await openWorkspace();
    const { vault } = await vaultOf(workspace);
    const api = await openApi({
      settings: { sign_in: 'always', rate: { per_second: 100_000, burst: 100_000 } },
      ...{ metrics: createPrometheus(), workspace, sensitive: vault },
    });
    for (const owner of owners) {
      await api.put(
        { _id: `f-${owner}`, type: 'flow', name: 'f', owner, tasks: [], tags: [markOf(owner)] },
        { _id: `t-${owner}`, type: 'task', name: 'noop', owner, plugin: 'noop' },
      );
    }
    await api.engine();
    const operations = await operationsOf(api);
    const everybody = [...(await visitors(api)), ...(await sensitiveVisitors(api))];
    const cells = operations.flatMap((operation) => cellsOf(operation, everybody));
    await store(
      api,
      cells.flatMap(({ id, owner, row }) => seed(id, owner, row)),
    );
    const wrong: string[] = [];
    await together(cells, async (cell) => void wrong.push(...(await faultsOf(api, cell))));
    expect(wrong).toEqual([]);
    console.log(`${cells.length} cells of the access matrix`);
  }, 600_000);
});
