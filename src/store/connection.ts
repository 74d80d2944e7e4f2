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

/** The header that signs in; empty without a user. */
export function credentialsOf(connection: Connection): Readonly<Record<string, string>> {
  const { user, password = '' } = connection;
  if (user === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}
