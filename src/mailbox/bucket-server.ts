import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { loadPart, portTaken } from './parts.js';

export type BucketServerOptions = {
  /** 4568 when absent, 0 for any free one. */
  readonly port?: number;
  /** Objects are kept in `s3` of this folder. */
  readonly dir: string;
  /** Buckets that exist from the start; `files` when absent. */
  readonly buckets?: readonly string[];
};

export type BucketServer = {
  readonly port: number;
  /** The `endpoint` of the S3 parameters; with `path_style: true`. */
  readonly endpoint: string;
  readonly stop: () => Promise<void>;
};

/** The only account it knows: any other key is refused, as by the real service. */
export const bucketCredentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' } as const;

/** The part of the package that is used here; it brings no types. */
type S3rver = {
  readonly callback: () => RequestListener;
  readonly configureBuckets: () => Promise<unknown>;
};
type S3rverClass = new (options: Readonly<Record<string, unknown>>) => S3rver;

const host = '127.0.0.1';
const defaultPort = 4568;

/**
 * Starts a server of the S3 protocol on this machine only.
 * Throws `mailbox_port_taken`, or `part_missing` where its package is not installed.
 */
export async function startBucketServer(options: BucketServerOptions): Promise<BucketServer> {
  const directory = join(options.dir, 's3');
  const S3rver = await loadPart<S3rverClass>('@20minutes/s3rver', options.dir);
  await mkdir(directory, { recursive: true });
  const wanted = options.port ?? defaultPort;
  const s3 = new S3rver({
    directory,
    silent: true,
    vhostBuckets: false,
    configureBuckets: (options.buckets ?? ['files']).map((name) => ({ name })),
  });
  await s3.configureBuckets();
  // Not its own `run`, which has no answer to a port in use.
  const server = createServer(s3.callback()).listen(wanted, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw portTaken(error, wanted, 'S3 server');
  });
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port, endpoint: `http://${host}:${port}`, stop };
}
