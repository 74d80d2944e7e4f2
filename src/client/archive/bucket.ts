import type * as S3 from '@aws-sdk/client-s3';
import type { WrittenArchive } from '../../model/archive.js';
import { loadPackage } from '../../plugin/packages.js';
import type { ArchiveObjects } from './batches.js';

type Bucket = NonNullable<WrittenArchive['s3']>;

/**
 * Objects of an S3 bucket. The package is loaded with the first request, the one of the project in `root`
 * before the one of tws; credentials are found by it.
 */
export function bucketObjects(bucket: Bucket, root: string, name: string): ArchiveObjects {
  const { bucket: Bucket, prefix = '' } = bucket;
  let opened: Promise<{ readonly sdk: typeof S3; readonly client: S3.S3Client }> | undefined;
  const open = () => (opened ??= connect(bucket, root));
  return {
    name,
    put: async (object, bytes) => {
      const { sdk, client } = await open();
      const wanted = { Bucket, Key: `${prefix}${object}`, Body: bytes };
      await client.send(new sdk.PutObjectCommand(wanted));
    },
    get: async (object, range) => {
      const { sdk, client } = await open();
      const part = range === undefined ? {} : { Range: `bytes=${range.first}-${range.last}` };
      const wanted = { Bucket, Key: `${prefix}${object}`, ...part };
      const { Body } = await client.send(new sdk.GetObjectCommand(wanted));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    async *names() {
      const { sdk, client } = await open();
      for (let token: string | undefined; ;) {
        const from = token === undefined ? {} : { ContinuationToken: token };
        const wanted = { Bucket, Prefix: prefix, ...from };
        const page = await client.send(new sdk.ListObjectsV2Command(wanted));
        yield* (page.Contents ?? []).map(({ Key = '' }) => Key.slice(prefix.length));
        token = page.NextContinuationToken;
        if (token === undefined) return;
      }
    },
    close: async () => (await opened?.catch(() => undefined))?.client.destroy(),
  };
}

async function connect({ region, endpoint, path_style: pathStyle }: Bucket, root: string) {
  const sdk = await loadPackage<typeof S3>('@aws-sdk/client-s3', 'archive', root);
  // A server other than Amazon's has no regions, but the SDK asks for one.
  const isAny = endpoint !== undefined && process.env['AWS_REGION'] === undefined;
  const given = region ?? (isAny ? 'us-east-1' : undefined);
  const client = new sdk.S3Client({
    ...(given === undefined ? {} : { region: given }),
    forcePathStyle: pathStyle ?? false,
    ...(endpoint === undefined ? {} : { endpoint }),
    // Servers other than Amazon's often do not know the newer checksums; what is written is read back.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  client.middlewareStack.add(
    (next) => (args) => {
      // Servers other than Amazon's may check the signature of a bucket's path without the slash at its end.
      const request = args.request as { path: string };
      request.path = request.path.replace(/(.)\/$/, '$1');
      return next(args);
    },
    { step: 'build' },
  );
  return { sdk, client };
}
