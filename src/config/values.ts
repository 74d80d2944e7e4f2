import { z } from 'zod';
import { engineEventTypes } from '../model/engine-event.js';
import { isWebhookAddress } from '../model/notify.js';
import { egressEntryProblem } from '../plugin/egress.js';
import { olderDerivations } from '../secrets/older-format.js';

/** What values of settings may look like. */

export const text = z.string({ error: 'must be a string' }).min(1, { error: 'must not be empty' });
export const textList = z.array(text, { error: 'must be a list of strings' });
export const port = z.int().min(0).max(65_535, { error: 'must be a port, 0 to 65535' });

/** What a log may be told to keep, from most to least. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export const count = z
  .int({ error: 'must be a whole number' })
  .min(1, { error: 'must be 1 or more' });

/** Half of what a timer of Node.js can wait. */
const longestDrainMs = 1_000_000_000;
const drainText = `must be milliseconds, from 0 to ${longestDrainMs}`;

/** How long running steps may take to end. */
export const drainSchema = z
  .int({ error: drainText })
  .min(0, { error: drainText })
  .max(longestDrainMs, { error: drainText });

const leaseText = 'must be milliseconds, 300 or more';

/** How long an engine may be silent. */
export const leaseSchema = z.int({ error: leaseText }).min(300, { error: leaseText });

/** How an earlier project encrypted `<first>:<cipher>`, both in hex. */
export const olderFormatSchema = z.strictObject({
  cipher: text.describe('Cipher of OpenSSL in mode CBC, CTR, CFB or OFB, such as aes-256-cbc.'),
  kdf: z
    .enum(olderDerivations, { error: `must be one of ${olderDerivations.join(', ')}` })
    .describe(
      'How the key comes of TWS_CRYPTO_KEY: scrypt (Node.js defaults), pbkdf2, sha256 (of the key and then the salt), raw (it is the key, as text or in hex), evp (EVP_BytesToKey of the former crypto.createCipher: MD5, no salt).',
    ),
  first: z.exactOptional(
    z
      .enum(['salt', 'iv'], { error: 'must be "salt" or "iv"' })
      .describe('What the part before the colon is; default salt.'),
  ),
  salt_as: z.exactOptional(
    z
      .enum(['bytes', 'text'], { error: 'must be "bytes" or "text"' })
      .describe('How that salt goes into kdf: its bytes (default), or the hex text itself.'),
  ),
  salt: z.exactOptional(
    z
      .string({ error: 'must be a string' })
      .describe('Salt of kdf where "first" is "iv"; default: none.'),
  ),
  iv: z.exactOptional(
    z
      .enum(['zero', 'derived'], { error: 'must be "zero" or "derived"' })
      .describe(
        'The vector where "first" is "salt": zeros (default), or what kdf gives after the key (default with evp).',
      ),
  ),
  keylen: z.exactOptional(
    count.describe('Bytes that kdf gives; the cipher takes the first. Default: as it needs.'),
  ),
  digest: z.exactOptional(text.describe('Hash of pbkdf2; default sha256.')),
  iterations: z.exactOptional(count.describe('Rounds of pbkdf2; default 100000.')),
});

const onText = `must be a list of ${engineEventTypes.join(', ')}`;

const addressText = 'must be an address with http or https, without a password';

/** One of `webhooks`. */
export const webhookSchema = z.strictObject(
  {
    url: text
      .refine(isWebhookAddress, { error: addressText, params: { isComplete: true } })
      .describe('Address with http or https; may be encrypted by `tws encrypt`.'),
    on: z.exactOptional(
      z
        .array(z.enum(engineEventTypes, { error: onText }), { error: onText })
        .min(1, { error: onText })
        .describe('Events that it is told; default: all of them.'),
    ),
    secret: z.exactOptional(
      text.describe('Signs what is sent (Standard Webhooks); as `tws encrypt` prints it.'),
    ),
    headers: z.exactOptional(
      z.record(z.string(), z.union([z.string(), z.number()]), {
        error: 'must be an object of headers',
      }),
    ),
  },
  { error: 'must be {url, on, secret, headers}' },
);

const egressText =
  'must be an address, a range such as 10.0.0.0/8, a host name, *.example.com or *';
/** `egress.allow` and `egress.deny`. */
export const egressEntries = z.array(
  text.refine((entry) => egressEntryProblem(entry) === undefined, { error: egressText }),
  { error: 'must be a list of addresses' },
);
