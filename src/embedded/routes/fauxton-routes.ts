import { readFile } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';

import { refuse } from '../http/couch-error.js';
import { sendBytes, type Exchange } from '../http/exchange.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ico': 'image/x-icon',
  '.ttf': 'font/ttf',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** What CouchDB sends with Fauxton, too; it compiles templates at run time, hence `unsafe-eval`. */
const POLICY =
  "default-src 'self'; worker-src 'self' blob:; img-src 'self' data:; font-src 'self'; script-src 'self' 'unsafe-eval'; " +
  "style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'self'; form-action 'self';";

/** GET of `/_utils/…`: Fauxton, CouchDB's web interface, from the files fetched at build time. */
export async function fauxton(x: Exchange): Promise<void> {
  const [, ...names] = x.path;
  if (names.length === 0 && !/^\/_utils\/(\?|$)/.test(x.target)) {
    x.response.writeHead(301, { location: '/_utils/' }).end();
    return;
  }
  const wanted = names.length === 0 ? 'index.html' : names.join('/');
  const file = normalize(join(x.context.fauxtonDir, wanted));
  if (!file.startsWith(x.context.fauxtonDir + sep)) throw refuse.missing();
  const body = await readFile(file).catch(() => undefined);
  if (body === undefined) throw refuse.missing(await whyMissing(x));
  const hashed = /\.[0-9a-f]{20,}\./.test(wanted);
  sendBytes(x.response, 200, body, {
    'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'must-revalidate',
  });
}

async function whyMissing(x: Exchange): Promise<string> {
  const there = await readFile(join(x.context.fauxtonDir, 'index.html')).then(
    () => true,
    () => false,
  );
  return there
    ? 'missing'
    : 'Fauxton is not installed: the build could not fetch it. Run `npm run build` with access to the npm registry.';
}
