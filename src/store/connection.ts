/** Which database of which server, as whom. */
export type Connection = {
  /** `http(s)://host:port`, with the path of a proxy if there is one; without credentials. */
  readonly url: string;
  readonly database: string;
  readonly user?: string;
  readonly password?: string;
  /** The design document is `_design/<app>`. */
  readonly app: string;
};

/** The server's URL for requests and messages: no slash at its end, never a name or password. */
export function serverUrl(connection: Connection): string {
  const url = new URL(connection.url);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Path of the database below the server, with what follows it: `/my_tasks/_changes`. */
export function databasePath(connection: Connection, rest = ''): string {
  return `/${encodeURIComponent(connection.database)}${rest}`;
}

/** Path of a document below its database. The slash of `_design/` and `_local/` stays one. */
export function documentPath(id: string): string {
  const space = /^_(design|local)\//.exec(id)?.[0] ?? '';
  return `/${space}${encodeURIComponent(id.slice(space.length))}`;
}

/** The header that signs in; empty without a user. */
export function credentialsOf(connection: Connection): Readonly<Record<string, string>> {
  const { user, password = '' } = connection;
  if (user === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
