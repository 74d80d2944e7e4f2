import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** A file of a build, read when the server starts. */
export type StaticFile = {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  /** Names in `assets` tell what is in them. */
  readonly forever: boolean;
  /** Packed when it is first asked for. */
  zipped?: Promise<Buffer>;
};

const text = 'text/plain; charset=utf-8';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.txt': text,
  '.yaml': text,
  '.service': text,
  '.mjs': text,
};

/**
 * Returns the files below a folder by their path with slashes; none where there is no folder. Files of
 * types that are not known, and those whose names begin with a dot, are left out.
 */
export async function filesIn(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return [];
    },
  );
  const found = entries
    .filter((entry) => entry.isFile() && types[extname(entry.name)])
    .map(({ name, parentPath }) => join(parentPath, name))
    .map((file) => ({ file, path: relative(folder, file).split(sep).join('/') }))
    .filter(({ path }) => !path.split('/').some((part) => part.startsWith('.')));
  return new Map(
    await Promise.all(
      found.map(async ({ file, path }): Promise<[string, StaticFile]> => {
        const body = await readFile(file);
        const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
        const type = types[extname(path)] ?? '';
        return [path, { type, body, etag, forever: path.startsWith('assets/') }];
      }),
    ),
  );
}

const zip = promisify(gzip);

/** Sends a file, packed where that pays, or 304 to a browser that has it. */
export async function sendFile(
  file: StaticFile,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { type, body, etag, forever } = file;
  reply.headers({
    etag,
    vary: 'accept-encoding',
    'cache-control': forever ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  if (headers['if-none-match'] === etag) return reply.code(304).send();
  const accepts = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  const zips = accepts && body.length > 1_000 && type !== types['.png'];
  if (!zips) return reply.type(type).send(body);
  file.zipped ??= zip(body, { level: 9 });
  return reply
    .type(type)
    .header('content-encoding', 'gzip')
    .send(await file.zipped);
}
