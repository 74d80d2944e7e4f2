import type * as Pg from 'pg';
import {
  connectWithin,
  loadPackage,
  percentDecoded,
  PluginError,
  type PluginContext,
} from '../src/plugin/index.js';

export const description = 'Runs one statement in a PostgreSQL database';

export const params = {
  type: 'object',
  required: ['url', 'sql'],
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      minLength: 1,
      description: 'postgres://user:pass@host/database?sslmode=require; a secret',
    },
    sql: { type: 'string', minLength: 1, description: 'one statement; $1, $2 … are the values' },
    values: { type: 'array', description: 'sent beside the statement, never as part of it' },
    most: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      description: 'rows; 1000 when absent. More fail',
    },
  },
};

type Params = {
  readonly url: string;
  readonly sql: string;
  readonly values?: readonly unknown[];
  readonly most?: number;
};

/** Values that fill in templates of the statement would become part of it. */
export const templates = ['sql'];

/** Bytes that a database may send for one statement. */
const mostBytes = 10_000_000;

export default async function sqlQuery(context: PluginContext<Params>): Promise<unknown> {
  const { params: given, cwd, signal, egress } = context;
  const { sql, values = [], most = 1_000 } = given;
  const pg = await loadPackage<typeof Pg>('pg', 'sql-query', cwd);
  const config = configOf(context.secret('url'));
  const socket = await connectWithin(egress, config, signal).catch(unreachable(config.host));
  // It is connected: nothing is to look its address up again.
  socket.connect = () => {
    process.nextTick(() => socket.emit('connect'));
    return socket;
  };
  const client = new pg.Client({ ...config, stream: () => socket });
  client.on('error', () => undefined);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect();
    // A statement of its own kind of message: a second one behind it is refused.
    const text = { text: sql, values: [...values], queryMode: 'extended' } as Pg.QueryConfig;
    const query = new pg.Query<Record<string, unknown>>(text);
    return context.done(await resultOf(client, query, most, stop));
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error);
  } finally {
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
    socket.destroy();
  }
}

/** Runs a query; what is beyond the limits is not kept, and ends the connection. */
function resultOf(
  client: Pg.Client,
  query: Pg.Query<Record<string, unknown>>,
  most: number,
  stop: () => void,
): Promise<object> {
  return new Promise((done, fail) => {
    const rows: Record<string, unknown>[] = [];
    let bytes = 0;
    const end = (error: PluginError): void => {
      fail(error);
      stop();
    };
    query.on('row', (row) => {
      if (rows.length === most) end(tooMany(most));
      else rows.push(row);
    });
    query.on('error', fail);
    query.on('end', ({ command, rowCount }: Pg.QueryResult) =>
      done({ command, count: rowCount ?? rows.length, rows }),
    );
    // A row is whole only when it is in memory: its bytes count as they come.
    client.connection.stream.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > mostBytes) end(tooLarge());
    });
    client.query(query);
  });
}

/** What `sslmode` of the address may say; not `allow` and `prefer`, which give up encryption unasked. */
const sslModes = new Map<string, Pg.ClientConfig['ssl']>([
  ['disable', false],
  ['require', true],
  ['verify-ca', true],
  ['verify-full', true],
  ['no-verify', { rejectUnauthorized: false }],
]);

/** What the client is told: nothing but this, as its own reading of an address opens files and other hosts. */
function configOf(text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol)) throw wrongUrl(form);
  const [user, password, database] = [
    percentDecoded(url.username),
    percentDecoded(url.password),
    percentDecoded(url.pathname.slice(1)),
  ];
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === '' || user === '') throw wrongUrl(form);
  const other = [...url.searchParams.keys()].find((name) => name !== 'sslmode');
  if (other !== undefined) {
    throw wrongUrl(`may have sslmode behind the question mark, and nothing else: not ${other}`);
  }
  const mode = url.searchParams.get('sslmode');
  if (mode !== null && !sslModes.has(mode)) {
    throw wrongUrl(`may have an sslmode of ${[...sslModes.keys()].join(', ')}, not ${mode}`);
  }
  return {
    ...{ host, port: Number(url.port || 5432), user, database: database || user },
    // As a function, it counts when it is empty, too: no password of the engine's environment is sent.
    password: () => password,
    ...(mode === null ? {} : { ssl: sslModes.get(mode) }),
  };
}

const form = 'must be postgres://user:password@host/database';

const wrongUrl = (what: string): PluginError =>
  new PluginError(`The parameter url ${what}.`, {
    name: 'DatabaseUrlInvalid',
    retryable: false,
    exit: 3,
  });

const unreachable =
  (host: string) =>
  (error: unknown): never => {
    if (error instanceof PluginError || (error as Error).name === 'AbortError') throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new PluginError(`The database at ${host} does not answer (${code ?? message}).`, {
      name: 'DatabaseUnreachable',
      ...(code === undefined ? {} : { code }),
      cause: error,
    });
  };

const tooMany = (most: number): PluginError =>
  new PluginError(`The statement gives more than ${most} rows, the most: add a LIMIT.`, {
    name: 'TooManyRows',
    retryable: false,
  });

const tooLarge = (): PluginError =>
  new PluginError(`The rows are more than ${mostBytes} bytes, the most: ask for less of them.`, {
    name: 'RowsTooLarge',
    retryable: false,
  });

/** Classes of SQLSTATE that may go better next time: connection, transaction, resources, operator, system. */
const temporary = /^(?:08|40|53|55|57|58)/;

function explained(error: unknown): unknown {
  if (error instanceof PluginError) return error;
  const { code, message, severity } = error as Partial<Pg.DatabaseError>;
  if (severity === undefined || code === undefined) return error;
  return new PluginError(`The database refuses the statement: ${message} (${code})`, {
    name: 'StatementRefused',
    code,
    retryable: temporary.test(code),
    cause: error,
  });
}
