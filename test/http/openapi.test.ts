import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Validator } from '@seriousme/openapi-schema-validator';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { describe, expect, it, onTestFinished } from 'vitest';
import { untruthOf } from './truth.js';
import { openApi } from './server.js';

type Document = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly operationId: string }>>>
  >;
};

describe('the check of every answer of these tests', () => {
  it('finds what is not as the reference says', () => {
    const answer = { method: 'GET', path: '/_tws/ping', status: 200, type: 'application/json' };
    expect(untruthOf({ ...answer, text: '{"ok":true,"now":1}' })).toBeUndefined();
    expect(untruthOf({ ...answer, text: '{"ok":"yes","now":1}' })).toContain('schema');
    expect(untruthOf({ ...answer, status: 299, text: '{}' })).toContain('not named');
    expect(untruthOf({ ...answer, type: 'text/html', text: '' })).toContain('must be');
    const list = { ...answer, path: '/_tws/jobs?limit=1', text: '{"jobs":[{"id":"a"}]}' };
    expect(untruthOf(list)).toContain('schema');
  });
});

describe('the OpenAPI document', () => {
  // Shows L-05.
  it('is valid 3.1, and describes every route once', async () => {
    const { ask } = await openApi();
    const { body, headers } = await ask<Document>('GET', '/openapi.json');
    expect(headers.get('content-type')).toContain('application/json');
    const validator = new Validator();
    expect(await validator.validate(structuredClone(body))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    const ids = Object.values(body.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(body.paths).toHaveProperty(['/_tws/jobs', 'post']);
    expect(body.paths).toHaveProperty(['/metrics', 'get']);
  });

  it('makes a client that type-checks and works', async () => {
    const api = await openApi();
    const { text } = await api.ask('GET', '/openapi.json');
    const folder = await mkdtemp(join(tmpdir(), 'tws-client-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'), 'dir');
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    const types = astToString(await openapiTS(text));
    await writeFile(join(folder, 'api.d.ts'), types);
    const source = await readFile(new URL('./generated-client.txt', import.meta.url), 'utf8');
    const file = join(folder, 'client.ts');
    await writeFile(file, source);
    expect(mistakesIn(file)).toEqual([]);
    // A call that the document does not know is a mistake: the types are not just `any`.
    const wrong = join(folder, 'wrong.ts');
    await writeFile(wrong, source.replace("flow: 'greet'", 'flow: 7'));
    expect(mistakesIn(wrong)).not.toEqual([]);

    const { outputText } = ts.transpileModule(source, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    });
    const built = join(folder, 'client.js');
    await writeFile(built, outputText);
    const { use } = (await import(/* @vite-ignore */ pathToFileURL(built).href)) as {
      use: (url: string) => Promise<unknown>;
    };
    await api.engine();
    expect(await use(api.url)).toEqual({
      stored: 'task:DEFAULT:echo',
      warnings: 0,
      status: 'succeeded',
      found: ['a'],
      missing: 'document_missing',
      counted: 1,
    });
  });
});

function mistakesIn(file: string): readonly string[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the reference', () => {
  it('is a page without script and without anything from elsewhere', async () => {
    const { ask } = await openApi();
    const { text, headers } = await ask('GET', '/docs/api');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toContain("style-src 'self'");
    expect(text).not.toMatch(/<script|https?:\/\/|style="|onclick/);
    expect(text).toContain('/_tws/jobs/{id}/retry');
    const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id ?? '');
    const ids = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
    const style = await ask('GET', '/docs/api/style.css');
    expect(style.headers.get('content-type')).toContain('text/css');
  });
});
