import type { ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type * as S3 from '@aws-sdk/client-s3';
import {
  egressAgents,
  loadPackage,
  PluginError,
  projectFile,
  type PluginContext,
} from '../src/plugin/index.js';

export const description = 'Stores a text or a file as an object in an S3 bucket';

export const templates = ['bucket', 'key', 'body'];

const credentialsSchema = { type: 'object', description: 'else where the AWS SDK finds them' };

export const params = {
  type: 'object',
  required: ['bucket', 'key'],
  properties: {
    bucket: { type: 'string', minLength: 1 },
    key: { type: 'string', minLength: 1 },
    body: { type: 'string' },
    file: { type: 'string', description: 'a file of the project, instead of body' },
    content_type: { type: 'string' },
    metadata: { type: 'object', additionalProperties: { type: 'string' } },
    acl: { type: 'string' },
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
  },
};

type Credentials = Readonly<Record<string, string | undefined>>;
type Params = {
  readonly bucket: string;
  readonly key: string;
  readonly body?: string;
  readonly file?: string;
  readonly content_type?: string;
  readonly metadata?: Record<string, string>;
  readonly acl?: S3.ObjectCannedACL;
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

export default async function s3Upload(context: PluginContext<Params>): Promise<unknown> {
  const { params, render } = context;
  const [bucket, key] = [render(params.bucket), render(params.key)];
  const sdk = await loadPackage<typeof S3>('@aws-sdk/client-s3', 's3-upload', context.cwd);
  const content = await toContent(context);
  const options = clientOptions(params);
  const client = new sdk.S3Client({ ...options, requestHandler: egressAgents(context.egress) });
  try {
    const command = new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: key,
      ...content,
      ...(params.content_type === undefined ? {} : { ContentType: params.content_type }),
      ...(params.metadata === undefined ? {} : { Metadata: params.metadata }),
      ...(params.acl === undefined ? {} : { ACL: params.acl }),
    });
    const stored = await client.send(command, { abortSignal: context.signal });
    return context.done({
      bucket,
      key,
      location: location(options, bucket, key),
      ...(stored.ETag === undefined ? {} : { etag: stored.ETag.replaceAll('"', '') }),
      ...(stored.VersionId === undefined ? {} : { version_id: stored.VersionId }),
    });
  } catch (error) {
    throw explained(error, bucket);
  } finally {
    if (typeof content.Body !== 'string') content.Body.destroy();
    client.destroy();
  }
}

async function toContent({ params, render, cwd }: PluginContext<Params>) {
  if (params.file === undefined) {
    if (params.body !== undefined) return { Body: render(params.body) };
    throw new PluginError('There is nothing to store: the parameter body or file is missing.', {
      name: 'BodyMissing',
      retryable: false,
      exit: 3,
    });
  }
  const path = projectFile(cwd, params.file);
  // Opened here: a stream that cannot open its file has nobody yet who hears of it.
  const file = await open(path).catch((error: NodeJS.ErrnoException) => error);
  if (file instanceof Error) throw unreadable(params.file, file.code);
  const found = await file.stat();
  if (found.isFile()) return { Body: heard(file.createReadStream()), ContentLength: found.size };
  await file.close();
  throw unreadable(params.file, 'it is no file');
}

/** The SDK does not listen to the stream; a broken one ends with the attempt's timeout. */
function heard(stream: ReadStream): ReadStream {
  return stream.on('error', () => undefined);
}

function unreadable(path: string, reason = 'unknown'): PluginError {
  return new PluginError(`The file "${path}" cannot be read (${reason}).`, {
    name: 'FileUnreadable',
    retryable: false,
  });
}

/** In their place, the SDK would use the credentials of this machine. */
function incomplete(): PluginError {
  const message =
    'The credentials of the bucket are incomplete: they need access_key_id and secret_access_key.';
  return new PluginError(message, { name: 'CredentialsIncomplete', retryable: false, exit: 3 });
}

function credentialsIn(given: NonNullable<Params['auth']>) {
  const accessKeyId = given.accessKeyId ?? given.access_key_id ?? given.id;
  const secretAccessKey = given.secretAccessKey ?? given.secret_access_key ?? given.secret;
  const sessionToken = given.sessionToken ?? given.session_token;
  if (accessKeyId === undefined || secretAccessKey === undefined) throw incomplete();
  const token = sessionToken === undefined ? {} : { sessionToken };
  return { accessKeyId, secretAccessKey, ...token };
}

function clientOptions({ s3 = {}, auth, region }: Params) {
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

function location(
  options: {
    readonly region: string;
    readonly endpoint?: string;
    readonly forcePathStyle: boolean;
  },
  bucket: string,
  key: string,
): string {
  const base = new URL(options.endpoint ?? `https://s3.${options.region}.amazonaws.com`);
  const path = key.split('/').map(encodeURIComponent).join('/');
  const root = base.pathname.replace(/\/$/, '');
  if (options.forcePathStyle) return `${base.origin}${root}/${bucket}/${path}`;
  return `${base.protocol}//${bucket}.${base.host}${root}/${path}`;
}

/** The server's answer by its S3 name; 408, 429 and 5xx may be different next time. */
function explained(error: unknown, bucket: string): unknown {
  if (!(error instanceof Error) || error instanceof PluginError) return error;
  const { $metadata } = error as Partial<S3.S3ServiceException>;
  const status = $metadata?.httpStatusCode;
  if (status === undefined) return error;
  return new PluginError(`Bucket ${bucket} refuses the object: ${error.message} (${error.name})`, {
    name: error.name,
    code: status,
    retryable: status >= 500 || status === 408 || status === 429,
    cause: error,
  });
}
