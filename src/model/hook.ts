import { z } from 'zod';
import { isEncrypted, isOlderFormat } from './encrypted.js';
import { newJobFields } from './job.js';
import { flagSchema, momentSchema, nameOf, nameSchema, textSchema, type Known } from './scalars.js';
import { spanSchema, writtenSpanMs } from './span.js';
import { mayHoldTemplate } from './template.js';
import { refuseUnknown } from './unknown-keys.js';

/** The hashes of a signature. */
export const hookAlgorithms = ['sha256', 'sha1', 'sha512'] as const;
/** How a signature is written. */
export const hookEncodings = ['hex', 'base64'] as const;
/** What a delivery is answered with. */
export const hookAnswers = ['accepted', 'result'] as const;

/** How old or how far ahead the time of a signature may be, unless the hook says so, ms. */
export const usualToleranceMs = 300_000;
/** How long an answer waits for the end of the job, unless the hook says so, ms. */
export const usualHookWaitMs = 30_000;
/** The longest such wait, ms. */
const longestWaitMs = 120_000;
const mostSecrets = 10;
/** The longest body of a delivery, bytes. */
export const mostHookBytes = 1_048_576;

const secretText = 'must be a secret: the text that `tws encrypt` prints, or a list of these';
const oneSecret = z.union(
  [
    z.string({ error: secretText }).min(1, { error: secretText }),
    z.strictObject({ $enc: textSchema }),
  ],
  { error: secretText },
);

/** How the key is made of a secret in clear: of its characters, or of the bytes that they are base64 of. */
type KeyForm = 'text' | 'base64';

const secretSchema = secretSchemaOf('text');

function secretSchemaOf(form: KeyForm) {
  const one = oneSecret.superRefine((secret, context) => {
    const message = typeof secret === 'string' ? whyNoSecret(secret, form) : undefined;
    if (message !== undefined)
      context.addIssue({ code: 'custom', message, params: { isComplete: true } });
  });
  return z
    .union([one, z.array(one).min(1).max(mostSecrets, { error: secretText })], {
      error: secretText,
    })
    .describe(
      'Encrypted by `tws encrypt`; of several, each is valid, so that one can be replaced.',
    );
}

/** What a secret as it is written must be; of an encrypted one nobody can say it here. */
function whyNoSecret(text: string, form: KeyForm): string | undefined {
  if (text === '' || isEncrypted(text) || isOlderFormat(text)) return undefined;
  if (mayHoldTemplate(text))
    return 'must be the secret itself: hooks fill in no template, so everybody who reads it would know the key';
  return hasKey(text, form) ? undefined : 'must be base64, usually after "whsec_"';
}

/** Whether there is a key in a secret in clear. What is no base64 would be left out of it in silence. */
function hasKey(text: string, form: KeyForm): boolean {
  return form === 'text' ? text !== '' : /^[\w+/-]{2,}={0,2}$/.test(text.replace(/^whsec_/, ''));
}

/** Whether all secrets of a check, in clear, are keys: everybody knows the one that is empty. */
export function areKeys(check: HookCheck, secrets: readonly string[]): boolean {
  const form = check.standard_webhooks === undefined ? 'text' : 'base64';
  return secrets.every((secret) => hasKey(secret, form));
}

const headerText = 'must be the name of a header';
const headerSchema = z
  .string({ error: headerText })
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, { error: headerText })
  .describe('Name of a header, in any case.');

const tokenKeys = ['header', 'query', 'prefix', 'secret'] as const;
const tokenSchema = z
  .looseObject(
    {
      header: z.exactOptional(headerSchema),
      query: z.exactOptional(textSchema.describe('Name of a parameter in the address.')),
      prefix: z.exactOptional(textSchema.describe('Text before the token, such as "Bearer ".')),
      secret: secretSchema,
    },
    { error: 'must be {header, secret} or {query, secret}' },
  )
  .superRefine((token, context) => {
    refuseUnknown(token, tokenKeys, context);
    if ((token.header === undefined) === (token.query === undefined))
      refuse(context, 'header', 'must be given, or "query" in its place, and not both');
  });

const fieldsSchema = z
  .strictObject(
    { timestamp: textSchema, signature: textSchema },
    { error: 'must be {timestamp, signature}: the names of these two parts of the header' },
  )
  .describe('The header is a list such as "t=1,v1=…": the names of its two parts.');

const hmacKeys = [
  ...(['header', 'algorithm', 'encoding', 'prefix', 'fields'] as const),
  ...(['timestamp', 'signed', 'tolerance', 'secret'] as const),
] as const;
const hmacSchema = z
  .looseObject(
    {
      header: headerSchema.describe('The header with the signature.'),
      algorithm: z.exactOptional(wordOf(hookAlgorithms).describe('Default sha256.')),
      encoding: z.exactOptional(wordOf(hookEncodings).describe('Default hex.')),
      prefix: z.exactOptional(textSchema.describe('Text before the signature: "sha256=".')),
      fields: z.exactOptional(fieldsSchema),
      timestamp: z.exactOptional(headerSchema.describe('The header with the time, epoch seconds.')),
      signed: z.exactOptional(
        textSchema.describe('What is signed; default "{body}", with a time "{timestamp}.{body}".'),
      ),
      tolerance: z.exactOptional(spanSchema.describe('How old the time may be; default PT5M.')),
      secret: secretSchema,
    },
    { error: 'must be {header, secret}, with more where the sender needs it' },
  )
  .superRefine((hmac, context) => {
    refuseUnknown(hmac, hmacKeys, context);
    for (const [path, message] of mistakesInHmac(hmac)) refuse(context, path, message);
  });

const standardKeys = ['secret', 'tolerance'] as const;
const standardSchema = z
  .looseObject(
    {
      secret: secretSchemaOf('base64'),
      tolerance: z.exactOptional(spanSchema.describe('How old a delivery may be; default PT5M.')),
    },
    { error: 'must be {secret}' },
  )
  .superRefine((one, context) => refuseUnknown(one, standardKeys, context));

const checkKeys = ['token', 'hmac', 'standard_webhooks'] as const;
const checkText =
  'must be {token}, {hmac} or {standard_webhooks}, or "none" where everybody may start jobs';
const checkSchema = z
  .union(
    [
      z
        .looseObject(
          {
            token: z.exactOptional(tokenSchema),
            hmac: z.exactOptional(hmacSchema),
            standard_webhooks: z.exactOptional(standardSchema),
          },
          { error: checkText },
        )
        .superRefine((check, context) => {
          refuseUnknown(check, checkKeys, context);
          if (checkKeys.filter((key) => check[key] !== undefined).length !== 1)
            context.addIssue({ code: 'custom', message: checkText });
        }),
      z.literal('none', { error: checkText }),
    ],
    { error: checkText },
  )
  .describe(
    'How senders prove themselves: {token}, {hmac} or {standard_webhooks}; "none": everybody may send.',
  );

function wordOf<const T extends readonly string[]>(words: T) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

function refuse(context: z.core.$RefinementCtx<unknown>, path: string, message: string): void {
  context.addIssue({ code: 'custom', path: [path], message, params: { isComplete: true } });
}

type WrittenHmac = {
  readonly fields?: unknown;
  readonly timestamp?: string;
  readonly signed?: string;
  readonly tolerance?: unknown;
};

/** What is wrong with fields of `hmac` beside each other. */
function mistakesInHmac(hmac: WrittenHmac): readonly (readonly [string, string])[] {
  const { fields, timestamp, signed, tolerance } = hmac;
  const hasTime = fields !== undefined || timestamp !== undefined;
  const countOf = (part: string): number => (signed?.split(part).length ?? 2) - 1;
  const found: readonly (readonly [boolean, string, string])[] = [
    [
      fields !== undefined && timestamp !== undefined,
      'timestamp',
      'must be left out where "fields" names the time',
    ],
    [tolerance !== undefined && !hasTime, 'tolerance', 'must be left out where there is no time'],
    [countOf('{body}') !== 1, 'signed', 'must have "{body}" once'],
    [
      hasTime && countOf('{timestamp}') === 0,
      'signed',
      'must have "{timestamp}": a time that is not signed can be replaced',
    ],
    [
      !hasTime && signed?.includes('{timestamp}') === true,
      'signed',
      'must have no "{timestamp}" unless "timestamp" or "fields" says where it is',
    ],
  ];
  return found.flatMap(([isWrong, path, message]) => (isWrong ? [[path, message] as const] : []));
}

const bytesText = `must be a number of bytes from 1 to ${mostHookBytes}`;
const expressionText = 'must be a JSONata expression (a string)';
const { priority, queue, tags, keys } = newJobFields;

/** A hook document: an address that starts a job of a flow for each delivery. */
export const hookSchema = z
  .looseObject({
    type: z.literal('hook'),
    name: nameSchema,
    owner: z.exactOptional(nameSchema.describe('Owner of the flow and its jobs; default DEFAULT.')),
    description: z.exactOptional(textSchema.describe('A sentence for people.')),
    flow: nameOf('flow').describe('Name of the flow that each delivery runs.'),
    flow_version: newJobFields.flow_version,
    check: checkSchema,
    match: z.exactOptional(
      z
        .string({ error: expressionText })
        .describe('JSONata over {body, headers, query}: other deliveries start nothing.'),
    ),
    params: z.exactOptional(
      z
        .string({ error: expressionText })
        .describe('JSONata over {body, headers, query}: the parameters of the job, an object.'),
    ),
    dedupe: z.exactOptional(
      headerSchema.describe(
        'Header that names a delivery: the same value starts one job; with standard_webhooks default webhook-id.',
      ),
    ),
    respond: z.exactOptional(
      wordOf(hookAnswers).describe(
        'accepted (default): answers with the id of the job at once; result: waits for its end.',
      ),
    ),
    wait: z.exactOptional(
      spanSchema.describe('With "result": how long it waits; default PT30S, at most PT2M.'),
    ),
    max_bytes: z.exactOptional(
      z
        .int({ error: bytesText })
        .min(1, { error: bytesText })
        .max(mostHookBytes, { error: bytesText })
        .describe(
          'Longer bodies are refused; default and most 1 MiB; http.body_limit of the settings counts besides.',
        ),
    ),
    enabled: z.exactOptional(flagSchema.describe('false: there is nothing at its address.')),
    ...{ priority, queue, tags, keys },
    problems: z.exactOptional(
      z
        .array(z.looseObject({ path: textSchema, message: textSchema }))
        .describe('What is wrong; engines write it.'),
    ),
    refused: z.exactOptional(
      z
        .unknown()
        .describe(
          'Deliveries that were refused, since their sender did not prove itself or they were too long: {count, at, status}, the latest time and status. The API writes it now and then.',
        ),
    ),
  })
  .superRefine(({ respond, wait }, context) => {
    if (wait === undefined) return;
    if (respond !== 'result')
      refuse(context, 'wait', 'must be left out unless "respond" is "result"');
    else if (writtenSpanMs(wait) > longestWaitMs) refuse(context, 'wait', 'must be at most PT2M');
  })
  .describe('A hook: an address to which other programs send what starts a job of a flow.');

/** A hook as it is read. */
export type Hook = Known<z.infer<typeof hookSchema>> & { readonly _id: string };
/** How senders prove themselves. */
export type HookCheck = Exclude<Hook['check'], 'none'>;
export type HookToken = z.infer<typeof tokenSchema>;
export type HookHmac = z.infer<typeof hmacSchema>;

/** The fields that engines and the API write: they stay when the author stores a hook anew. */
export const hookEngineKeys = ['problems', 'refused'] as const;

const refusedSchema = z.object({
  count: z.int().min(1),
  at: momentSchema,
  status: z.int(),
});

/** How many deliveries to a hook were refused; `at` and `status`: of the latest one. */
export type RefusedDeliveries = z.infer<typeof refusedSchema>;

/** Reads `refused` of a hook; undefined: none were, or somebody wrote something else there. */
export function readRefused(refused: unknown): RefusedDeliveries | undefined {
  return refusedSchema.safeParse(refused).data;
}

/** The status of a hook, for people: `invalid` ones and `disabled` ones start nothing. */
export const hookStatuses = ['active', 'disabled', 'invalid'] as const;
export type HookStatus = (typeof hookStatuses)[number];

/** The header that names a delivery, in lower case; undefined: each delivery is one of its own. */
export function dedupeHeader({
  dedupe,
  check,
}: Pick<Hook, 'dedupe' | 'check'>): string | undefined {
  if (dedupe !== undefined) return dedupe.toLowerCase();
  return check !== 'none' && check.standard_webhooks !== undefined ? 'webhook-id' : undefined;
}

/** A secret of a hook as it is written, with the field of its document (`check.hmac.secret.0`). */
export type HookSecret = { readonly field: string; readonly text: string };

/** The secrets of a hook, each of which proves a sender. */
export function hookSecrets({ check }: Pick<Hook, 'check'>): readonly HookSecret[] {
  if (check === 'none') return [];
  return checkKeys.flatMap((key) => {
    const secret = check[key]?.secret;
    if (secret === undefined) return [];
    const field = `check.${key}.secret`;
    if (!Array.isArray(secret)) return [{ field, text: textOfSecret(secret) }];
    return secret.map((one, i) => ({ field: `${field}.${i}`, text: textOfSecret(one) }));
  });
}

type OneSecret = z.infer<typeof oneSecret>;

function textOfSecret(secret: OneSecret): string {
  return typeof secret === 'string' ? secret : secret.$enc;
}
