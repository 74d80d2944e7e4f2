import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TwsError } from '../../src/errors.js';
import { addDocs } from '../../src/http/docs.js';

/** Serves a folder of these files as the documentation; without any there is no folder. */
async function served(files: Readonly<Record<string, string>> = {}): Promise<FastifyInstance> {
  const above = await mkdtemp(join(tmpdir(), 'tws-docs-'));
  onTestFinished(() => rm(above, { recursive: true }));
  await writeFile(join(above, 'secret.html'), 'not documentation');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(above, 'docs', path)), { recursive: true });
    await writeFile(join(above, 'docs', path), text);
  }
  const app = Fastify();
  app.setErrorHandler(async (error, _request, reply) => {
    if (!(error instanceof TwsError)) throw error;
    return reply.code(error.status).send({ error: error.code, reason: error.message });
  });
  await addDocs(app, join(above, 'docs'));
  return app;
}

const site = {
  'index.html': 'start',
  'tutorial.html': 'tutorial',
  'guides/index.html': 'guides',
  'assets/app.js': 'script',
  'operations/tws@.service': 'unit',
};

describe('the documentation', () => {
  it('is redirected to its folder, since links of a page are relative to it', async () => {
    const app = await served(site);
    const { statusCode, headers } = await app.inject('/_tws/docs');
    expect([statusCode, headers.location]).toEqual([308, '/_tws/docs/']);
  });

  it.each([
    ['', 'start', 'text/html; charset=utf-8'],
    ['index.html', 'start', 'text/html; charset=utf-8'],
    ['tutorial', 'tutorial', 'text/html; charset=utf-8'],
    ['tutorial.html', 'tutorial', 'text/html; charset=utf-8'],
    ['guides/', 'guides', 'text/html; charset=utf-8'],
    ['assets/app.js', 'script', 'text/javascript; charset=utf-8'],
    ['operations/tws@.service', 'unit', 'text/plain; charset=utf-8'],
  ])('answers /_tws/docs/%s with its file', async (path, text, type) => {
    const app = await served(site);
    const { statusCode, body, headers } = await app.inject(`/_tws/docs/${path}`);
    expect([statusCode, body, headers['content-type']]).toEqual([200, text, type]);
  });

  it('lets a page load scripts and styles from this server only', async () => {
    const app = await served(site);
    const page = await app.inject('/_tws/docs/tutorial');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toContain('unsafe');
    const script = await app.inject('/_tws/docs/assets/app.js');
    expect(script.headers['content-security-policy']).toBeUndefined();
    expect(script.headers['cache-control']).toContain('immutable');
  });

  it.each(['none', 'tutorial/', '../secret', '..%2Fsecret.html', 'operations/tws'])(
    'has no page %s',
    async (path) => {
      const app = await served(site);
      const { statusCode, body } = await app.inject(`/_tws/docs/${path}`);
      expect(statusCode).toBe(404);
      if (!path.startsWith('../'))
        expect(JSON.parse(body)).toMatchObject({ error: 'docs_page_missing' });
    },
  );

  it('says how to build it when it is not there', async () => {
    const app = await served();
    const { statusCode, body } = await app.inject('/_tws/docs/');
    expect([statusCode, JSON.parse(body)]).toMatchObject([404, { error: 'docs_missing' }]);
  });
});
