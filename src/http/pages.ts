import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { packageRoot } from '../package.js';
import { problem } from '../errors.js';
import { linksOf, type Manifest } from './page-links.js';
import { filesIn, sendFile, type StaticFile } from './plumbing/static-files.js';
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

/** The page itself is small and never kept: it names the files of the newest build. */
async function sendPage({ type, body }: StaticFile, reply: FastifyReply): Promise<FastifyReply> {
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
