import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { packageRoot } from '../package.js';
import { problem } from '../errors.js';
import { linksOf, type Manifest } from './page-links.js';
import { prefix } from './route.js';

/** Where the admin pages are. */
export const pagesPrefix = `${prefix}/admin`;

/**
 * The admin pages are files that the build made, the same for everybody; whatever they show they ask
 * the API for.
 *
 * X1 Only what was found in the folder when the server started can be had: a request's path is looked
 *    up and never becomes a path of the file system.
 * X2 Every address that is no file of the build is a page: the script in it knows which.
 */
export async function addPages(app: FastifyInstance, folder = builtPages()): Promise<void> {
  const files = await filesIn(folder);
  const page = files.get('index.html');
  const manifest = await manifestIn(folder);
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { '*': path = '' } = request.params as { readonly '*'?: string };
    const file = files.get(path);
    if (file !== undefined && file !== page) return sendFile(file, request, reply);
    if (page === undefined) throw problem('pages_missing', {});
    if (path.startsWith('assets/')) {
      throw problem('route_missing', { method: request.method, path: `${pagesPrefix}/${path}` });
    }
    const query = request.url.split('?')[1];
    const links = linksOf(manifest, pagesPrefix, query === undefined ? path : `${path}?${query}`);
    if (links !== undefined) reply.header('link', links);
    return sendPage(page, reply);
  };
  app.get(pagesPrefix, answer);
  app.get(`${pagesPrefix}/*`, answer);
}

/** Where the build puts them: `dist/src/pages` of this package. */
function builtPages(): string {
  return join(packageRoot(), 'dist', 'src', 'pages');
}

type PageFile = {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  /** Names in `assets` tell what is in them. */
  readonly forever: boolean;
  /** Packed when somebody first asks for it. */
  zipped?: Promise<Buffer>;
};

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};

/** The files below a folder by their path with slashes; none where there is no folder. */
async function filesIn(folder: string): Promise<ReadonlyMap<string, PageFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return [];
    },
  );
  const found = entries.filter(
    (entry) =>
      entry.isFile() && types[extname(entry.name)] && entry.name !== basename(manifestFile),
  );
  return new Map(
    await Promise.all(
      found.map(async ({ name, parentPath }): Promise<[string, PageFile]> => {
        const path = relative(folder, join(parentPath, name)).split(sep).join('/');
        const body = await readFile(join(parentPath, name));
        const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
        const type = types[extname(name)] ?? '';
        return [path, { type, body, etag, forever: path.startsWith('assets/') }];
      }),
    ),
  );
}

/** Which file of the build stands for which module; empty where the build left no manifest. */
async function manifestIn(folder: string): Promise<Manifest> {
  try {
    return JSON.parse(await readFile(join(folder, manifestFile), 'utf8')) as Manifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return {};
  }
}

/** It is for the server alone. */
const manifestFile = '.vite/manifest.json';

const zip = promisify(gzip);

async function sendFile(
  file: PageFile,
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
  const zips = /\bgzip\b/.test(String(headers['accept-encoding'] ?? '')) && body.length > 1_000;
  if (!zips) return reply.type(type).send(body);
  file.zipped ??= zip(body, { level: 9 });
  return reply
    .type(type)
    .header('content-encoding', 'gzip')
    .send(await file.zipped);
}

/** The page itself is small and never kept: it names the files of the newest build. */
async function sendPage({ type, body }: PageFile, reply: FastifyReply): Promise<FastifyReply> {
  const nonce = randomBytes(16).toString('base64');
  reply.headers({ 'cache-control': 'no-store', 'content-security-policy': policy(nonce) });
  return reply.type(type).send(body.toString('utf8').replace('%STYLE_NONCE%', nonce));
}

/** Scripts, styles and data come from here; the editor may add styles to the page it is in. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
