import type { ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type * as S3 from '@aws-sdk/client-s3';
import {
  egressAgents,
  loadPackage,
  pluginProblem,
  projectFile,
  type PluginContext,
} from '../src/plugin/index.js';
import { s3Options, s3Refusal, s3Schema, toMetadata, type S3Place } from './_s3/client.js';

export const description = 'Stores a text or a file as an object in an S3 bucket';

export const templates = ['bucket', 'key', 'body'];

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
    ...s3Schema,
  },
};

type Params = S3Place & {
  readonly bucket: string;
  readonly key: string;
  readonly body?: string;
  readonly file?: string;
  readonly content_type?: string;
  readonly metadata?: Record<string, string>;
  readonly acl?: S3.ObjectCannedACL;
};

export default async function s3Upload(context: PluginContext<Params>): Promise<unknown> {
  const { params, render } = context;
  const [bucket, key] = [render(params.bucket), render(params.key)];
  const sdk = await loadPackage<typeof S3>('@aws-sdk/client-s3', 's3-upload', context.cwd);
  const content = await toContent(context);
  const options = s3Options(params);
  const client = new sdk.S3Client({ ...options, requestHandler: egressAgents(context.egress) });
  try {
    const command = new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: key,
      ...content,
      ...(params.content_type === undefined ? {} : { ContentType: params.content_type }),
      ...(params.metadata === undefined ? {} : { Metadata: toMetadata(params.metadata) }),
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
    throw s3Refusal(error, `Bucket ${bucket} refuses the object`);
  } finally {
    if (typeof content.Body !== 'string') content.Body.destroy();
    client.destroy();
  }
}

async function toContent({ params, render, cwd }: PluginContext<Params>) {
  if (params.file === undefined) {
    if (params.body !== undefined) return { Body: render(params.body) };
    throw pluginProblem('BodyMissing', {});
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

function unreadable(path: string, reason = 'unknown'): Error {
  return pluginProblem('FileUnreadable', { path, reason });
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
