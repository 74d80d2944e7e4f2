import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bucketCredentials, startBucketServer } from '../../src/mailbox/bucket-server.js';
import { folderWith } from '../plugin/attempt.js';
import { run } from './shipped.js';

/** A real server of the S3 protocol for one test. */
async function bucketServer() {
  const server = await startBucketServer({ port: 0, dir: folderWith(), buckets: ['files'] });
  onTestFinished(server.stop);
  const s3 = { endpoint: server.endpoint, path_style: true, auth: bucketCredentials };
  const client = new S3Client({
    region: 'us-east-1',
    endpoint: server.endpoint,
    forcePathStyle: true,
    credentials: bucketCredentials,
  });
  onTestFinished(() => client.destroy());
  const get = async (Key: string) => {
    const stored = await client.send(new GetObjectCommand({ Bucket: 'files', Key }));
    return { ...stored, text: await stored.Body?.transformToString() };
  };
  return { s3, get, endpoint: server.endpoint };
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

describe('s3-upload', () => {
  it('keeps metadata of any text, and s3-get gives it back', async () => {
    const { s3, get } = await bucketServer();
    const place = { s3, bucket: 'files', key: 'k' };
    const metadata = { note: 'für 5 €', plain: 'a=b', empty: '' };
    expect(await run('s3-upload', { ...place, body: 'x', metadata })).toMatchObject({
      kind: 'done',
    });
    expect((await get('k')).Metadata).toMatchObject({
      note: `=?UTF-8?B?${Buffer.from(metadata.note).toString('base64')}?=`,
      plain: 'a=b',
    });
    const got = await run('s3-get', place);
    expect(got).toMatchObject({ result: { metadata: { note: metadata.note, plain: 'a=b' } } });
  });

  it('refuses a metadata name that no header has', async () => {
    const { s3 } = await bucketServer();
    const wrong = { s3, bucket: 'files', key: 'k', body: 'x', metadata: { größe: '1' } };
    expect(await run('s3-upload', wrong)).toMatchObject({
      failure: { name: 'MetadataInvalid' },
      retryable: false,
    });
  });

  it.each<[string, object, object]>([
    ['JSON after a byte order mark', { body: '\uFEFF{"a":1}', json: true }, { body: { a: 1 } }],
    ['text after a byte order mark', { body: '\uFEFFa' }, { body: 'a' }],
  ])('s3-get reads %s', async (_what, { body, ...how }: { body?: string }, result) => {
    const { s3 } = await bucketServer();
    const place = { s3, bucket: 'files', key: 'k' };
    await run('s3-upload', { ...place, body });
    expect(await run('s3-get', { ...place, ...how })).toMatchObject({ result });
  });

  it('s3-get reads a text in the charset of its type, and refuses bytes that are none', async () => {
    const { s3 } = await bucketServer();
    const cwd = folderWith();
    writeFileSync(join(cwd, 'latin'), Buffer.from('pr\xe9t', 'latin1'));
    const place = { s3, bucket: 'files', key: 'k' };
    const type = 'text/plain; charset=iso-8859-1';
    await run('s3-upload', { ...place, file: 'latin', content_type: type }, { cwd });
    expect(await run('s3-get', place)).toMatchObject({ result: { body: 'prét' } });
    await run('s3-upload', { ...place, file: 'latin' }, { cwd });
    expect(await run('s3-get', place)).toMatchObject({
      failure: { name: 'ObjectNoText' },
      retryable: false,
    });
  });

  it('stores a filled-in text under a filled-in key', async () => {
    const { s3, get, endpoint } = await bucketServer();
    const params = {
      s3,
      bucket: 'files',
      key: 'orders/{{job._id}} ü.txt',
      body: 'Total: {{results.total}} <€>',
      content_type: 'text/plain; charset=utf-8',
      metadata: { order: '7' },
    };
    const text = 'Total: 12 <€>';
    expect(await run('s3-upload', params, { results: { total: 12 } })).toMatchObject({
      kind: 'done',
      result: {
        bucket: 'files',
        key: 'orders/job-1 ü.txt',
        etag: md5(text),
        location: `${endpoint}/files/orders/job-1%20%C3%BC.txt`,
      },
    });
    expect(await get('orders/job-1 ü.txt')).toMatchObject({
      text,
      ContentType: 'text/plain; charset=utf-8',
      Metadata: { order: '7' },
    });
  });

  it.each<[string, object]>([
    ['none', {}],
    ['half of them', { access_key_id: 'a' }],
  ])(
    'does not fall back to those of the machine where credentials are: %s',
    async (_are, given) => {
      const { s3 } = await bucketServer();
      const params = { bucket: 'files', key: 'k', body: 'x', s3: { ...s3, credentials: given } };
      expect(await run('s3-upload', params)).toMatchObject({
        kind: 'failed',
        exit: 3,
        failure: { name: 'CredentialsIncomplete' },
      });
    },
  );

  it('stores a file of the project', async () => {
    const { s3, get } = await bucketServer();
    const text = 'line\n'.repeat(50_000);
    const cwd = folderWith({ 'out/report.csv': text });
    const params = { s3, bucket: 'files', key: 'report.csv', file: 'out/report.csv' };
    expect(await run('s3-upload', params, { cwd })).toMatchObject({
      kind: 'done',
      result: { etag: md5(text) },
    });
    expect((await get('report.csv')).text).toBe(text);
  });

  it('understands the parameters of earlier projects', async () => {
    const { s3, get } = await bucketServer();
    const { endpoint } = s3;
    const auth = { id: 'S3RVER', secret: 'S3RVER' };
    const older = { auth, region: 'us-east-1', bucket: 'files', key: 'k', body: 'b' };
    const params = { ...older, s3: { endpoint, forcePathStyle: true } };
    expect(await run('s3-upload', params)).toMatchObject({ kind: 'done' });
    expect((await get('k')).text).toBe('b');
  });

  it.each([
    ['a bucket that is not there', { bucket: 'none' }, {}, 'NoSuchBucket', 404],
    [
      'an unknown key',
      {},
      { auth: { accessKeyId: 'x', secretAccessKey: 'y' } },
      'InvalidAccessKeyId',
      403,
    ],
    [
      'a wrong secret',
      {},
      { auth: { accessKeyId: 'S3RVER', secretAccessKey: 'y' } },
      'SignatureDoesNotMatch',
      403,
    ],
  ])('does not try again after %s', async (_title, change, s3Change, name, code) => {
    const { s3 } = await bucketServer();
    const params = { bucket: 'files', key: 'k', body: 'b', ...change, s3: { ...s3, ...s3Change } };
    expect(await run('s3-upload', params)).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name, code },
    });
  });

  it('leaves it to the retry policy when nobody answers', async () => {
    const s3 = { endpoint: 'http://127.0.0.1:1', path_style: true, auth: bucketCredentials };
    const outcome = await run('s3-upload', { s3, bucket: 'files', key: 'k', body: 'b' });
    expect(outcome).toMatchObject({ kind: 'failed', failure: { code: 'ECONNREFUSED' } });
    expect(outcome).not.toHaveProperty('retryable');
  });

  it.each([
    [{ key: 'k', body: 'b' }, 'ParamsInvalid'],
    [{ bucket: 'files', key: 'k' }, 'BodyMissing'],
    [{ bucket: 'files', key: 'k', file: 'none.txt' }, 'FileUnreadable'],
    [{ bucket: 'files', key: 'k', file: '../x.txt' }, 'FileOutside'],
    [{ bucket: 'files', key: '{{none}}', body: 'b' }, 'TemplateError'],
  ])('sends nothing for %j', async (params, name) => {
    expect(await run('s3-upload', params, { cwd: folderWith() })).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: { name },
    });
  });

  it('ends when its signal aborts', async () => {
    const { s3 } = await bucketServer();
    const params = { s3, bucket: 'files', key: 'k', body: 'b' };
    const signal = AbortSignal.abort();
    expect(await run('s3-upload', params, { signal })).toMatchObject({
      kind: 'failed',
      failure: { name: 'AbortError' },
    });
  });
});

describe('s3-get', () => {
  it('reads what was stored: as text, as JSON, and into a file of the project', async () => {
    const { s3 } = await bucketServer();
    const place = { s3, bucket: 'files', key: 'a.json' };
    await run('s3-upload', { ...place, body: '{"total": 12}', metadata: { order: '7' } });
    expect(await run('s3-get', place)).toMatchObject({
      kind: 'done',
      result: { bytes: 13, body: '{"total": 12}', metadata: { order: '7' } },
    });
    expect(await run('s3-get', { ...place, json: true })).toMatchObject({
      result: { body: { total: 12 } },
    });
    const cwd = folderWith({ 'downloads/old.json': 'old' });
    for (const file of ['downloads/old.json', 'downloads/in/new.json']) {
      expect(await run('s3-get', { ...place, file }, { cwd })).toMatchObject({ result: { file } });
      expect(readFileSync(join(cwd, file), 'utf8')).toBe('{"total": 12}');
    }
    expect(readdirSync(join(cwd, 'downloads'))).toEqual(['in', 'old.json']);
  });

  it.each([
    ['plugins/x.js', 'FileNotForWriting'],
    ['package.json', 'FileNotForWriting'],
    ['downloads', 'FileNotForWriting'],
    ['downloads/../plugins/x.js', 'FileNotForWriting'],
    ['downloads/link/x.js', 'FileNotForWriting'],
    ['downloads/file.js', 'FileNotForWriting'],
    ['downloads/out/x', 'FileOutside'],
    ['downloads/.x', 'FileHidden'],
  ])('writes nothing to %s', async (file, name) => {
    const cwd = folderWith({ 'plugins/a.js': 'code', 'downloads/a': '' });
    symlinkSync('../plugins', join(cwd, 'downloads/link'));
    symlinkSync('../plugins/a.js', join(cwd, 'downloads/file.js'));
    symlinkSync(folderWith(), join(cwd, 'downloads/out'));
    // Nobody is asked for the object.
    const s3 = { endpoint: 'http://127.0.0.1:1', path_style: true, auth: bucketCredentials };
    const place = { s3, bucket: 'files', key: 'k', file };
    expect(await run('s3-get', place, { cwd })).toMatchObject({
      failure: { name },
      retryable: false,
    });
    expect(readdirSync(join(cwd, 'plugins'))).toEqual(['a.js']);
  });

  it('refuses what is too large, no JSON, not there, or outside of the project', async () => {
    const { s3 } = await bucketServer();
    const place = { s3, bucket: 'files', key: 'k' };
    await run('s3-upload', { ...place, body: 'no JSON' });
    expect([
      await run('s3-get', { ...place, most: 6 }),
      await run('s3-get', { ...place, json: true }),
      await run('s3-get', { ...place, key: 'nothing' }),
      await run('s3-get', { ...place, file: '../../x' }),
    ]).toMatchObject([
      {
        failure: {
          name: 'ObjectTooLarge',
          message: 'Object k is 7 bytes, and 6 is the most: name a file for it.',
        },
      },
      { failure: { name: 'ObjectNoJson' }, retryable: false },
      { failure: { name: 'NoSuchKey', code: 404 }, retryable: false },
      { failure: { name: 'FileOutside' } },
    ]);
  });
});
