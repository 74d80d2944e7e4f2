import { PluginError } from '../../src/plugin/index.js';

/** What a task says of its mail server. */
export type Smtp = Readonly<Record<string, unknown>> & {
  readonly host?: string;
  readonly service?: string;
};

/**
 * What parameters may say of the connection. Everything else could exchange it for something that
 * starts programs or writes files (`sendmail`, `url`, `dkim.cacheDir`, for instance).
 */
const connectionKeys = [
  'host',
  'port',
  'secure',
  'service',
  'authMethod',
  'ignoreTLS',
  'requireTLS',
  'opportunisticTLS',
  'name',
  'localAddress',
  'lmtp',
  'connectionTimeout',
  'greetingTimeout',
  'socketTimeout',
  'dnsTimeout',
] as const;

/**
 * What a task may say of TLS: which certificates it trusts and shows, and how the connection is encrypted.
 * `host`, `port`, `path`, `socket` and `lookup` would open another connection than the one that was
 * judged; engines of OpenSSL load code; `checkServerIdentity`, `secureContext` and `session` cannot be
 * written in JSON; `enableTrace` prints what is sent.
 */
const tlsKeys = [
  'ca',
  'cert',
  'key',
  'pfx',
  'passphrase',
  'crl',
  'servername',
  'rejectUnauthorized',
  'minVersion',
  'maxVersion',
  'ciphers',
  'sigalgs',
  'ecdhCurve',
  'dhparam',
  'minDHSize',
  'honorCipherOrder',
  'secureProtocol',
  'secureOptions',
  'ALPNProtocols',
  'allowPartialTrustChain',
] as const;

/** What asks a server for a token (`accessUrl`, `refreshToken`, `serviceClient`) would connect to that one, too. */
const authKeys = ['type', 'user', 'pass', 'method', 'accessToken', 'expires'] as const;

/**
 * The options of the mailer for a mail server. `tls` and `auth` are handed on key by key: the libraries
 * below take options of a socket among them.
 * @throws PluginError `MailOptionRefused` for a key of `tls` or `auth` that may not be set
 */
export function connectionOf(smtp: Smtp): Smtp {
  const tls = picked('tls', smtp['tls'], tlsKeys);
  const auth = picked('auth', smtp['auth'], authKeys);
  const given = connectionKeys.filter((key) => smtp[key] !== undefined);
  return {
    ...Object.fromEntries(given.map((key) => [key, smtp[key]])),
    ...atMailbox(smtp),
    ...(tls === undefined ? {} : { tls }),
    ...(auth === undefined ? {} : { auth }),
  };
}

/**
 * Port 2525 of this machine, to which the samples send, is the mail server of `tws dev --mailbox`, wherever that
 * listens: with another port it tells the plugins of its engine by this variable.
 */
function atMailbox({ host, port }: Smtp): { readonly port?: number } {
  const other = process.env['TWS_MAILBOX_PORT'];
  return host === '127.0.0.1' && port === 2525 && other !== undefined
    ? { port: Number(other) }
    : {};
}

function picked(
  name: string,
  options: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  const odd = Object.keys(options).find((key) => !known.includes(key));
  if (odd === undefined) return { ...options };
  const message = `The parameter smtp.${name}.${odd} cannot be set; smtp.${name} may have ${known.join(', ')}.`;
  throw refusedOption(message);
}

/** The failure of a mail whose parameters ask for another connection than its plugin makes. */
export function refusedOption(message: string): PluginError {
  return new PluginError(message, { name: 'MailOptionRefused', retryable: false, exit: 3 });
}
