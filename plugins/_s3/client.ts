import type * as S3 from '@aws-sdk/client-s3';
import { PluginError } from '../../src/plugin/index.js';

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
