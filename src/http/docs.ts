import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problem } from '../errors.js';
import { packageRoot } from '../package.js';
import { filesIn, sendFile } from './plumbing/static-files.js';
import { prefix } from './route.js';

/** Where the documentation is. */
export const docsPrefix = `${prefix}/docs`;

/**
 * The documentation is files that the build of the package made, open to everybody.
 *
 * As with the admin pages, a request's path is looked up among the files that were found when the server
 * started; it never becomes a path of the file system.
 */
export async function addDocs(app: FastifyInstance, folder = builtDocs()): Promise<void> {
  const files = await filesIn(folder);
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { '*': path = '' } = request.params as { readonly '*'?: string };
    if (files.size === 0) throw problem('docs_missing', {});
    const names =
      path === '' || path.endsWith('/') ? [`${path}index.html`] : [path, `${path}.html`];
    const file = names.map((name) => files.get(name)).find((one) => one !== undefined);
    if (file === undefined) throw problem('docs_page_missing', { path: `${docsPrefix}/${path}` });
    if (file.type.startsWith('text/html')) reply.header('content-security-policy', policy);
    return sendFile(file, request, reply);
  };
  // Links of a page are relative to its folder.
  app.get(docsPrefix, async (_request, reply) => reply.redirect(`${docsPrefix}/`, 308));
  app.get(`${docsPrefix}/*`, answer);
}

/** Where `npm run docs` puts it: `dist/docs` of this package. */
function builtDocs(): string {
  return join(packageRoot(), 'dist', 'docs');
}

/** Whether there is any of it: a clone has none before `npm run docs`. */
export const areDocsBuilt = (): boolean => existsSync(join(builtDocs(), 'index.html'));

/** Everything comes from here; icons of the style sheet stand in it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');
