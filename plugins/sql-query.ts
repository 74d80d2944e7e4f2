import type * as Pg from 'pg';
import {
  connectWithin,
  loadPackage,
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
      description: 'postgres://user:pass@host/database; a secret',
    },
    sql: { type: 'string', minLength: 1, description: 'one statement; $1, $2 … are the values' },
    values: { type: 'array', description: 'sent beside the statement, never as part of it' },
    most: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      description: 'rows; 1000 when absent',
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

export default async function sqlQuery(context: PluginContext<Params>): Promise<unknown> {
  const { params: given, cwd, signal, egress } = context;
  const { sql, values = [], most = 1_000 } = given;
  const pg = await loadPackage<typeof Pg>('pg', 'sql-query', cwd);
  const url = addressOf(context.secret('url'));
  const place = { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 5432) };
  const socket = await connectWithin(egress, place, signal).catch(unreachable(url.hostname));
  const client = new pg.Client({ connectionString: url.href, stream: () => socket });
  client.on('error', () => undefined);
  const stop = (): void => void socket.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await client.connect();
    // A statement of its own kind of message: a second one behind it is refused.
    const config = { text: sql, values: [...values], queryMode: 'extended' } as Pg.QueryConfig;
    const { rows, rowCount, command } = await client.query<Record<string, unknown>>(config);
    if (rows.length > most) throw tooMany(rows.length, most);
    return context.done({ command, count: rowCount ?? rows.length, rows });
  } catch (error) {
    signal.throwIfAborted();
    throw explained(error);
  } finally {
    signal.removeEventListener('abort', stop);
    await client.end().catch(() => undefined);
    socket.destroy();
  }
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^postgres(?:ql)?:$/.test(url.protocol)) return url;
  throw new PluginError('The parameter url must be postgres://user:password@host/database.', {
    name: 'DatabaseUrlInvalid',
    retryable: false,
    exit: 3,
  });
}

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

const tooMany = (count: number, most: number): PluginError =>
  new PluginError(`The statement gives ${count} rows, and ${most} is the most: add a LIMIT.`, {
    name: 'TooManyRows',
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
