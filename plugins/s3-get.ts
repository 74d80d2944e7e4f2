import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type * as S3 from '@aws-sdk/client-s3';
import {
  decodedText,
  downloadFile,
  egressAgents,
  loadPackage,
  PluginError,
  type PluginContext,
} from '../src/plugin/index.js';
import { fromMetadata, s3Options, s3Refusal, s3Schema, type S3Place } from './_s3/client.js';

export const description = 'Reads an object of an S3 bucket, as text, as JSON or into a file';

export const params = {
  type: 'object',
  required: ['bucket', 'key'],
  properties: {
    bucket: { type: 'string', minLength: 1 },
    key: { type: 'string', minLength: 1 },
    file: {
      type: 'string',
      description: 'a file below downloads/ of the project that is to hold it',
    },
    json: { type: 'boolean', description: 'it is JSON, which becomes body of the result' },
    most: {
      type: 'integer',
      minimum: 1,
      maximum: 10_000_000,
      description: 'bytes without a file; 1000000 when absent',
    },
    ...s3Schema,
  },
};

type Params = S3Place & {
  readonly bucket: string;
  readonly key: string;
  readonly file?: string;
  readonly json?: boolean;
  readonly most?: number;
};

export default async function s3Get(context: PluginContext<Params>): Promise<unknown> {
  const { params: given, cwd, egress, signal } = context;
  const { bucket, key, file } = given;
  if (file !== undefined) downloadFile(cwd, file);
  const sdk = await loadPackage<typeof S3>('@aws-sdk/client-s3', 's3-get', cwd);
  const client = new sdk.S3Client({ ...s3Options(given), requestHandler: egressAgents(egress) });
  try {
    const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
    const found = await client.send(command, { abortSignal: signal });
    const { ETag: etag, ContentType: type, ContentLength: bytes, Metadata: stored = {} } = found;
    const metadata = fromMetadata(stored);
    const content = await contentOf(found, context);
    return context.done({
      ...{ bucket, key, bytes, ...content },
      ...(type === undefined ? {} : { content_type: type }),
      ...(etag === undefined ? {} : { etag: etag.replaceAll('"', '') }),
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    });
  } catch (error) {
    throw s3Refusal(error, `Object ${key} of bucket ${bucket} cannot be read`);
  } finally {
    client.destroy();
  }
}

/** What the result says of the content. */
async function contentOf(
  { Body, ContentLength, ContentType }: S3.GetObjectCommandOutput,
  { params: { file, json = false, key, most = 1_000_000 }, cwd, signal }: PluginContext<Params>,
): Promise<object> {
  const body = Body as Readable;
  if (file !== undefined) {
    const path = downloadFile(cwd, file);
    await mkdir(dirname(path), { recursive: true });
    // Readers see the old file or the new one.
    const part = `${path}.${randomUUID()}.part`;
    try {
      await pipeline(body, createWriteStream(part, { flags: 'wx' }), { signal });
      await rename(part, path);
    } finally {
      await rm(part, { force: true });
    }
    return { file };
  }
  const chunks: Buffer[] = [];
  let read = 0;
  for await (const chunk of body) {
    read += (chunk as Buffer).length;
    if (read > most) {
      body.destroy();
      const size = ContentLength === undefined ? 'more' : `${ContentLength} bytes`;
      throw refused(
        'ObjectTooLarge',
        `Object ${key} is ${size}, and ${most} is the most: name a file for it.`,
      );
    }
    chunks.push(chunk as Buffer);
  }
  const text = decodedText(Buffer.concat(chunks), ContentType);
  if (text === undefined) {
    throw refused('ObjectNoText', `Object ${key} is no text in its encoding: name a file for it.`);
  }
  if (!json) return { body: text };
  try {
    return { body: JSON.parse(text) as unknown };
  } catch (error) {
    throw refused('ObjectNoJson', `Object ${key} is no JSON: ${(error as Error).message}`);
  }
}

const refused = (
  name: 'ObjectTooLarge' | 'ObjectNoText' | 'ObjectNoJson',
  message: string,
): PluginError => new PluginError(message, { name, retryable: false });
