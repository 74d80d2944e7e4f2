import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createDatabase } from '../../src/store/database.js';
import { installDesign } from '../../src/store/design.js';
import { checkServer } from '../../src/store/server.js';
import { couchKind, freshDatabase, removeAfterwards, request } from '../support/couch.js';
import { connect, connectAsStranger } from './connect.js';
import { startProxy } from './tcp-proxy.js';
import { connectAsUser } from './users.js';
import { text } from './matchers.js';

function freshName(): string {
  const name = `tws-test-${randomUUID()}`;
  removeAfterwards(name);
  return name;
}

/** Nobody, where only somebody may. */
function anonymous(database: string) {
  const { url, app } = connect(database);
  return { url, app, database };
}

describe('createDatabase', () => {
  test('creates it once, with few revisions and one copy', async () => {
    const name = freshName();
    const made = await createDatabase(connect(name));
    // The embedded server keeps few revisions from the beginning.
    const revsLimit = couchKind() === 'couchdb' ? 'set' : 'unchanged';
    expect(made).toMatchObject({ database: 'created', copies: 1, revsLimit });
    expect(made.nodes).toBeGreaterThanOrEqual(1);
    expect((await request<number>('GET', `/${name}/_revs_limit`)).body).toBeLessThanOrEqual(100);
    const again = await createDatabase(connect(name));
    expect(again).toEqual({ database: 'exists', copies: 1, revsLimit: 'unchanged' });
  });

  test('leaves a lower limit of revisions', async () => {
    const name = await freshDatabase();
    await request('PUT', `/${name}/_revs_limit`, { body: 20 });
    expect(await createDatabase(connect(name))).toMatchObject({ revsLimit: 'unchanged' });
  });

  test('takes a name with a slash', async () => {
    const name = `tws-test/x${randomUUID()}`;
    removeAfterwards(name);
    expect(await createDatabase(connect(name))).toMatchObject({ database: 'created' });
  });

  test('refuses a name that cannot be one', async () => {
    await expect(createDatabase(connect('No Name'))).rejects.toMatchObject({
      code: 'database_name_invalid',
      message: '"No Name" cannot be the name of a database.',
    });
  });

  test('tells who is no admin', async () => {
    const connection = await connectAsUser(freshName());
    await expect(createDatabase(connection)).rejects.toMatchObject({
      code: 'couch_not_admin',
      message: `You are not a server admin: CouchDB at ${connection.url} refuses to create the database "${connection.database}".`,
      hint: text('COUCH_USER'),
    });
  });

  test('tells a wrong password', async () => {
    const connection = connectAsStranger(freshName());
    await expect(createDatabase(connection)).rejects.toMatchObject({ code: 'couch_unauthorized' });
  });

  test('tells that nobody answers', async () => {
    const proxy = await startProxy(connect('x').url);
    await proxy.listen(false);
    await expect(createDatabase(connect('x', proxy.url))).rejects.toMatchObject({
      code: 'couch_unreachable',
    });
  });
});

describe('checkServer', () => {
  test('reports a database that is ready', async () => {
    const connection = connect(await freshDatabase());
    await installDesign(connection);
    expect(await checkServer(connection)).toEqual({
      url: connection.url,
      reachable: true,
      version: text(/^\d/),
      server: couchKind(),
      credentials: 'accepted',
      database: 'exists',
      documents: 3,
      nodes: expect.any(Number) as unknown,
      copies: 1,
      design: 'current',
      guard: 'installed',
    });
    await installDesign(connection, { guard: false });
    expect(await checkServer(connection)).toMatchObject({ documents: 2, guard: 'left_out' });
  });

  test('reports what is missing', async () => {
    const without = connect(await freshDatabase());
    expect(await checkServer(without)).toMatchObject({ database: 'exists', design: 'missing' });
    expect(await checkServer(connect(freshName()))).toMatchObject({
      reachable: true,
      database: 'missing',
      problem: { code: 'database_missing' },
    });
  });

  test('reports credentials that are refused', async () => {
    const connection = connectAsStranger(await freshDatabase());
    const refused = { reachable: true, credentials: 'refused' };
    const problem = { code: 'couch_unauthorized' };
    expect(await checkServer(connection)).toMatchObject({ ...refused, problem });
    expect(await checkServer(anonymous(connection.database))).toMatchObject({
      ...refused,
      problem,
    });
  });

  test('reports a server that does not answer', async () => {
    const proxy = await startProxy(connect('x').url);
    await proxy.listen(false);
    expect(await checkServer(connect('x', proxy.url))).toMatchObject({
      url: proxy.url,
      reachable: false,
      problem: { code: 'couch_unreachable' },
    });
  });
});
