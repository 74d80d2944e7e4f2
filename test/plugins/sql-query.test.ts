import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../support/ports.js';
import { run } from './shipped.js';

let server: PGLiteSocketServer;
let url: string;
beforeAll(async () => {
  const db = await PGlite.create();
  await db.exec(`CREATE TABLE orders (id int PRIMARY KEY, total int, note text)`);
  const port = await freePort();
  server = new PGLiteSocketServer({ db, port, host: '127.0.0.1' });
  await server.start();
  url = `postgres://postgres:hunter22@127.0.0.1:${port}/postgres?sslmode=disable`;
});
afterAll(async () => server.stop());

const query = (sql: string, more: object = {}) => run('sql-query', { url, sql, ...more });

describe('sql-query', () => {
  // Shows L-11.
  it('runs a statement with values beside it', async () => {
    const evil = `'); DROP TABLE orders; --`;
    const insert = 'INSERT INTO orders VALUES ($1, $2, $3)';
    expect(await query(insert, { values: [1, 5, evil] })).toMatchObject({
      kind: 'done',
      result: { command: 'INSERT', count: 1, rows: [] },
    });
    expect(await query('SELECT * FROM orders WHERE id = $1', { values: [1] })).toMatchObject({
      result: { command: 'SELECT', count: 1, rows: [{ id: 1, total: 5, note: evil }] },
    });
  });

  it('takes no second statement, and fills no template in', async () => {
    const two = await query('SELECT 1; DROP TABLE orders');
    expect(two).toMatchObject({
      failure: { name: 'StatementRefused', code: '42601' },
      retryable: false,
    });
    expect(await query(`SELECT '{{params.url}}' AS text`)).toMatchObject({
      result: { rows: [{ text: '{{params.url}}' }] },
    });
  });

  it('tells what is wrong, and never the password', async () => {
    // This database takes one connection after the other.
    const outcomes = [
      await query('SELECT * FROM nothing'),
      await query('SELECT generate_series(1, 5)', { most: 4 }),
      await run('sql-query', { url: 'postgres://u:hunter22@127.0.0.1:1/x', sql: 'SELECT 1' }),
      await run('sql-query', { url: 'mysql://u:hunter22@127.0.0.1/x', sql: 'SELECT 1' }),
    ];
    expect(outcomes).toMatchObject([
      { failure: { name: 'StatementRefused', code: '42P01' } },
      { failure: { name: 'TooManyRows' }, retryable: false },
      { failure: { name: 'DatabaseUnreachable', code: 'ECONNREFUSED' } },
      { failure: { name: 'DatabaseUrlInvalid' }, exit: 3 },
    ]);
    expect(JSON.stringify(outcomes)).not.toContain('hunter22');
  });

  it.each(['host=/tmp', 'sslmode=disable&sslrootcert=/etc/passwd', 'options=-c%20x%3D1'])(
    'takes nothing but sslmode of the query of its address: not %s',
    async (more) => {
      const [address] = url.split('?');
      const outcome = await run('sql-query', { url: `${address}?${more}`, sql: 'SELECT 1' });
      expect(outcome).toMatchObject({
        failure: {
          name: 'DatabaseUrlInvalid',
          message: expect.stringMatching(
            /sslmode .* nothing else: not (?:host|sslrootcert|options)\.$/,
          ) as string,
        },
        retryable: false,
      });
    },
  );

  it.each(['postgres://u:p@127.0.0.1/x?sslmode=prefer', 'postgres://127.0.0.1/x', 'postgres:///x'])(
    'refuses the address %s',
    async (wrong) => {
      expect(await run('sql-query', { url: wrong, sql: 'SELECT 1' })).toMatchObject({
        failure: { name: 'DatabaseUrlInvalid' },
        exit: 3,
      });
    },
  );

  it('keeps to TLS where sslmode asks for it', async () => {
    const secure = url.replace('disable', 'require');
    expect(await run('sql-query', { url: secure, sql: 'SELECT 1' })).toMatchObject({
      failure: { message: expect.stringContaining('SSL') as string },
    });
  });

  it('ends the connection at the first row or byte that is too much', async () => {
    expect(await query('SELECT generate_series(1, 200000)', { most: 3 })).toMatchObject({
      failure: {
        name: 'TooManyRows',
        message: expect.stringContaining('more than 3 rows') as string,
      },
      retryable: false,
    });
    expect(await query(`SELECT repeat('x', 11000000)`)).toMatchObject({
      failure: { name: 'RowsTooLarge' },
      retryable: false,
    });
    expect(await query('SELECT generate_series(1, 3) AS n', { most: 3 })).toMatchObject({
      result: { count: 3, rows: [{ n: 1 }, { n: 2 }, { n: 3 }] },
    });
  });

  it('reaches no address that the project denies', async () => {
    const egress = { allow: [], deny: ['127.0.0.1'], exposed: false };
    expect(await run('sql-query', { url, sql: 'SELECT 1' }, { egress })).toMatchObject({
      failure: { name: 'EgressDenied' },
    });
  });
});
