import { z } from 'zod';

const text = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' });
const count = z.int({ error: 'must be a whole number' }).min(1, { error: 'must be 1 or more' });

export const defaultHost = '127.0.0.1';
/** The port beside CouchDB's 5984. */
export const defaultPort = 5985;

const rateSchema = z.strictObject({
  per_second: z.exactOptional(
    z
      .number({ error: 'must be a number' })
      .positive({ error: 'must be more than 0' })
      .describe('Requests a second that somebody may make in the long run; default 50.'),
  ),
  burst: z.exactOptional(count.describe('Requests at once; default 200.')),
});

/** `http` of `tws.json`: the HTTP API. */
export const httpSettingsSchema = z
  .strictObject({
    host: z.exactOptional(
      text.describe(
        'Address to listen on; default 127.0.0.1. On any other everybody has to sign in.',
      ),
    ),
    port: z.exactOptional(
      z
        .int()
        .min(0)
        .max(65_535, { error: 'must be a port, 0 to 65535' })
        .describe('Default 5985; 0: any free one.'),
    ),
    tls: z.exactOptional(
      z
        .strictObject({
          cert: text.describe('File of the certificate (PEM), with those that it is signed by.'),
          key: text.describe('File of its private key (PEM).'),
        })
        .describe('HTTPS; files relative to tws.json.'),
    ),
    sign_in: z.exactOptional(
      z
        .enum(['auto', 'always'], { error: 'must be "auto" or "always"' })
        .describe(
          'auto: on a loopback address nobody has to sign in, unless trust_proxy or a public_url that is no loopback address tell of a proxy; always: everybody has to.',
        ),
    ),
    public_url: z.exactOptional(
      z
        .url({ protocol: /^https?$/, error: 'must be a URL such as https://tws.example.com' })
        .describe('How browsers reach it, behind a proxy.'),
    ),
    trust_proxy: z.exactOptional(
      z
        .array(text, { error: 'must be a list of addresses' })
        .describe('Addresses of proxies whose x-forwarded-for is believed.'),
    ),
    body_limit: z.exactOptional(count.describe('Bytes of a body; default 8388608.')),
    rate: z.exactOptional(
      rateSchema.describe('How often somebody may ask; without sign-in there is no limit.'),
    ),
    streams: z.exactOptional(
      count.describe('Streams of changes that may be open at the same time; default 200.'),
    ),
  })
  .describe('The HTTP API: tws start --http, tws serve, tws dev.');

export type HttpSettings = z.infer<typeof httpSettingsSchema>;

/** Whether an address is one of this machine only. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  return name === 'localhost' || name === '::1' || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/**
 * Whether other machines can reach the API: it listens on more than a loopback address, or a proxy brings
 * requests of others, whether its headers say so or not. A `public_url` on a loopback address is that
 * of a page of this machine.
 */
export function isReachable({
  host = defaultHost,
  public_url: url,
  trust_proxy: proxies,
}: HttpSettings): boolean {
  const isBehindProxy =
    proxies !== undefined || (url !== undefined && !isLoopback(new URL(url).hostname));
  return !isLoopback(host) || isBehindProxy;
}

/** Whether passwords and tokens travel encrypted, on the whole way or up to a proxy. */
export function isSecure({ tls, public_url: url }: HttpSettings): boolean {
  return tls !== undefined || (url !== undefined && new URL(url).protocol === 'https:');
}

/** The form of an address: `5985`, `:5985`, `host`, `host:5985`, `[::1]:5985`. */
export const addressForm =
  /^(?:(\[[0-9a-fA-F:.]+\]|[\w.-]*[A-Za-z_.-][\w.-]*)?(?::(\d{1,5}))?|(\d{1,5}))$/;

/** Host and port of an address, as far as it says them. */
export function addressOf(text: string): { readonly host?: string; readonly port?: number } {
  const [, host, port, alone] = addressForm.exec(text) ?? [];
  const number = port ?? alone;
  return {
    ...(host === undefined || host === '' ? {} : { host: host.replace(/^\[|\]$/g, '') }),
    ...(number === undefined ? {} : { port: Number(number) }),
  };
}
