import type * as S3 from '@aws-sdk/client-s3';
import { percentDecoded, PluginError } from '../../src/plugin/index.js';

const credentialsSchema = { type: 'object', description: 'else where the AWS SDK finds them' };

/** Parameters that say where a bucket is, and who asks. */
export const s3Schema = {
  region: { type: 'string' },
  auth: credentialsSchema,
  s3: {
    type: 'object',
    properties: {
      region: { type: 'string' },
      endpoint: { type: 'string', description: 'of a server other than Amazon' },
      path_style: { type: 'boolean', description: 'the bucket in the path, not in the host' },
      forcePathStyle: { type: 'boolean' },
      credentials: credentialsSchema,
      auth: credentialsSchema,
    },
  },
};

type Credentials = Readonly<Record<string, string | undefined>>;
export type S3Place = {
  readonly region?: string;
  readonly auth?: Credentials;
  readonly s3?: {
    readonly region?: string;
    readonly endpoint?: string;
    readonly path_style?: boolean;
    readonly forcePathStyle?: boolean;
    readonly credentials?: Credentials;
    readonly auth?: Credentials;
  };
};

/** In their place, the SDK would use the credentials of this machine. */
function incomplete(): PluginError {
  const message =
    'The credentials of the bucket are incomplete: they need access_key_id and secret_access_key.';
  return new PluginError(message, { name: 'CredentialsIncomplete', retryable: false, exit: 3 });
}

function credentialsIn(given: Credentials) {
  const accessKeyId = given.accessKeyId ?? given.access_key_id ?? given.id;
  const secretAccessKey = given.secretAccessKey ?? given.secret_access_key ?? given.secret;
  const sessionToken = given.sessionToken ?? given.session_token;
  if (accessKeyId === undefined || secretAccessKey === undefined) throw incomplete();
  const token = sessionToken === undefined ? {} : { sessionToken };
  return { accessKeyId, secretAccessKey, ...token };
}

/** The options of a client. @throws PluginError `CredentialsIncomplete` */
export function s3Options({ s3 = {}, auth, region }: S3Place) {
  const given = s3.credentials ?? s3.auth ?? auth;
  return {
    region: s3.region ?? region ?? 'us-east-1',
    forcePathStyle: s3.path_style ?? s3.forcePathStyle ?? false,
    ...(s3.endpoint === undefined ? {} : { endpoint: s3.endpoint }),
    ...(given === undefined ? {} : { credentials: credentialsIn(given) }),
    // Servers other than Amazon's often do not know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Trying again is the business of the task's retry policy.
    maxAttempts: 1,
  } as const;
}

/** The server's answer by its S3 name; 408, 429 and 5xx may be different next time. */
export function s3Refusal(error: unknown, what: string): unknown {
  if (!(error instanceof Error) || error instanceof PluginError) return error;
  const { $metadata } = error as Partial<S3.S3ServiceException>;
  const status = $metadata?.httpStatusCode;
  if (status === undefined) return error;
  return new PluginError(`${what}: ${error.message} (${error.name})`, {
    name: error.name,
    code: status,
    retryable: status >= 500 || status === 408 || status === 429,
    cause: error,
  });
}

type Metadata = Readonly<Record<string, string>>;

/**
 * Metadata as S3 keeps it: ASCII as it is, any other text as an encoded word of RFC 2047, which is how
 * Amazon gives such values back. @throws PluginError `MetadataInvalid` for a name that no header has
 */
export function toMetadata(metadata: Metadata): Record<string, string> {
  return changed(metadata, (value, name) => {
    if (!/^[\w.-]+$/.test(name)) {
      const message = `The metadata name ${JSON.stringify(name)} may have ASCII letters, digits, "-", "_" and ".".`;
      throw new PluginError(message, { name: 'MetadataInvalid', retryable: false, exit: 3 });
    }
    if (/^[\x20-\x7e]*$/.test(value)) return value;
    return `=?UTF-8?B?${Buffer.from(value, 'utf8').toString('base64')}?=`;
  });
}

/** Metadata with its encoded words decoded. */
export function fromMetadata(metadata: Metadata): Record<string, string> {
  return changed(metadata, (value) =>
    value
      .replace(/(\?=)\s+(=\?)/g, '$1$2')
      .replace(/=\?utf-8\?(?:b\?([\w+/=]*)|q\?([!-~]*?))\?=/gi, (_word, base64, quoted) =>
        typeof base64 === 'string'
          ? Buffer.from(base64, 'base64').toString('utf8')
          : percentDecoded(
              String(quoted)
                .replaceAll('_', ' ')
                .replaceAll('%', '%25')
                .replace(/=([0-9a-f]{2})/gi, '%$1'),
            ),
      ),
  );
}

function changed(metadata: Metadata, change: (value: string, name: string) => string) {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [name, change(value, name)]),
  );
}
