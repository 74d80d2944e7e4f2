import { describe, expect, it } from 'vitest';
import { hasOwner } from '../../src/http/access/owners.js';
import { levels, principalOf, type Level } from '../../src/http/access/principal.js';
import { createPrometheus } from '../../src/metrics/prometheus.js';
import { rows, type CellRequest, type Row } from './access-matrix.js';
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
};

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
      const answer = await api.ask('POST', '/session', { body: await makeUser(...roles) });
      const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
      const headers = { cookie, 'x-tws-request': '1' };
      found.push({ ...who, name: `user ${roles.join('+')}`, headers });
    }
  }
  return found;
}

const markOf = (owner: string): string => `mark-of-${owner.toLowerCase()}`;

/** Stores the document that a cell is about; answers its id. */
async function seed(api: TestApi, owner: string, { seed: kind }: Row): Promise<string> {
  const id = `x${crypto.randomUUID()}`;
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
  switch (kind) {
    case 'job':
      await api.put(job);
      break;
    case 'failed':
      await api.put({ ...job, ...ended, definitions: {}, flow_definition: { name: 'f' } });
      break;
    case 'flow':
      await api.put({ ...described, type: 'flow', tasks: [] });
      break;
    case 'task':
      await api.put({ ...described, type: 'task', plugin: 'noop' });
      break;
    case undefined:
  }
  return id;
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

describe('the access matrix', () => {
  it('has a row for every route of the OpenAPI document, with the access that it tells', async () => {
    const operations = await operationsOf(await openApi());
    expect(Object.keys(rows).toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
    for (const { id, access } of operations) expect([id, access]).toEqual([id, rows[id]?.access]);
  });

  it('holds in every cell: route, role, whose roles, and whose document', async () => {
    const api = await openApi({
      settings: { sign_in: 'always', rate: { per_second: 100_000, burst: 100_000 } },
      metrics: createPrometheus(),
    });
    for (const owner of owners) {
      await api.put(
        { _id: `f-${owner}`, type: 'flow', name: 'f', owner, tasks: [], tags: [markOf(owner)] },
        { _id: `t-${owner}`, type: 'task', name: 'noop', owner, plugin: 'noop' },
      );
    }
    await api.engine();
    const operations = await operationsOf(api);
    const everybody = await visitors(api);
    const wrong: string[] = [];
    let cells = 0;
    for (const operation of operations) {
      const row = rows[operation.id] as Row;
      const concerned = row.about === 'document' || row.about === 'owner' ? owners : ['acme'];
      for (const visitor of everybody) {
        // It ends the session of the cells that follow.
        if (operation.id === 'signOut' && visitor.name.startsWith('user')) continue;
        for (const owner of concerned) {
          cells += 1;
          const id = await seed(api, owner, row);
          const request = row.ask?.(owner, id) ?? {};
          const { status, text } = await send(api, operation, request, visitor.headers);
          const wanted = promised(row, visitor, owner);
          const about = `${operation.id} by ${visitor.name} for ${owner}`;
          if (!wanted.includes(status)) {
            wrong.push(`${about}: ${status}, not ${wanted.join(' or ')}: ${text.slice(0, 200)}`);
          }
          const leaked = owners.filter((one) => !visitor.has(one) && text.includes(markOf(one)));
          if (leaked.length > 0) wrong.push(`${about}: tells of ${leaked.join(', ')}`);
        }
      }
    }
    expect(wrong).toEqual([]);
    console.log(`${cells} cells of the access matrix`);
  }, 600_000);
});
