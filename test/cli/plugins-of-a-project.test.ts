import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/package.js';
import { tws } from './executable.js';
import { project, task } from './terminal.js';

const said = (text: string): string =>
  `export default ({ log }) => { console.log('${text} printed'); return '${text}'; };`;
const job = (name: string) => JSON.stringify({ type: 'job', tasks: [name] });

async function call(cwd: string, args: readonly string[], input?: string) {
  const called = tws(args, { cwd, ...(input === undefined ? {} : { input }) });
  const exit = await called.ended;
  return { exit, out: called.out(), err: called.err() };
}

describe('tws dev', () => {
  it('loads plugins again when they change, and takes up new ones', async () => {
    const cwd = await project({
      'plugins/first.mjs': said('one'),
      'couch/tws/tasks/first.json': task('first', { plugin: 'first' }),
      'couch/tws/tasks/second.json': task('second', { plugin: 'second' }),
    });
    const dev = tws(['dev', '--port', '0', '--no-http'], { cwd });
    await dev.prints(/Ctrl-C ends all/);
    const submit = ['submit', '-', '--wait'];
    expect((await call(cwd, submit, job('first'))).out).toContain('"first": "one"');
    await writeFile(join(cwd, 'plugins/first.mjs'), said('two'));
    await dev.prints(/Loaded: first\./);
    expect((await call(cwd, submit, job('first'))).out).toContain('"first": "two"');
    expect(dev.err()).toMatch(/"step":"first","attempt":1,"msg":"two printed"/);
    await writeFile(join(cwd, 'plugins/second.mjs'), said('new'));
    expect((await call(cwd, submit, job('second'))).out).toContain('"second": "new"');
    await writeFile(join(cwd, 'plugins/first.mjs'), 'export default () => {');
    await dev.prints(/Still running the edition before: first\./);
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });
});

describe('tws new plugin --test', () => {
  it('writes a test that runs', async () => {
    const cwd = await project();
    await mkdir(join(cwd, 'node_modules'));
    await symlink(packageRoot(), join(cwd, 'node_modules', 'tws'));
    const made = await call(cwd, ['new', 'plugin', 'hello', '--test']);
    expect(made.out).toContain('created: test/hello.test.mjs');
    // Node 20 finds nothing in a folder of TypeScript, and newer ones take it for a file.
    expect(made.out).toContain('Next: node --test test/hello.test.mjs');
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--test', 'test/hello.test.mjs'], { cwd });
    expect(stdout).toContain('# pass 2');
    const typed = await call(cwd, ['new', 'plugin', 'typed', '--ts', '--test']);
    expect(typed.out).toContain('created: plugins/typed.mts');
    expect(await readFile(join(cwd, 'plugins/typed.mts'), 'utf8')).toContain(
      "import type { Plugin } from 'tws/plugin';",
    );
    expect((await call(cwd, ['new', 'task', 'x', '--ts'])).exit).toBe(2);
  });

  it('says what has to be installed first', async () => {
    const { err } = await call(await project(), ['new', 'plugin', 'hello', '--test']);
    expect(err).toMatch(/npm install \/.+/);
  });
});

describe('tws test', () => {
  it('tells without secrets what plugins throw where nobody can catch it', async () => {
    const cwd = await project({
      'couch/tws/tasks/a.json': {
        ...{ type: 'task', name: 'a', owner: 'DEFAULT', plugin: 'leaky', sensitive: ['iban'] },
        params: { iban: { $sensitive: 'iban' } },
      },
      'couch/tws/flows/f.json': { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: ['a'] },
      'test/f.test.json': {
        ...{ flow: 'f', real: ['leaky'], sensitive: { iban: 'DE02 1203' } },
        expect: { status: 'succeeded' },
      },
      'plugins/leaky.mjs': `import { setTimeout as sleep } from 'node:timers/promises';
        export default async ({ params: { iban } }) => {
          Promise.reject(new Error('left ' + iban));
          setTimeout(() => { throw new Error('late ' + iban); }, 50);
          await sleep(20);
        };`,
    });
    const { out, err, exit } = await call(cwd, ['test']);
    const said = (what: string): string =>
      `leaky: Plugin leaky threw where nobody could catch it: Error: ${what} [secret]`;
    expect(err.trim().split('\n')).toEqual([said('left'), said('late')]);
    expect([exit, `${out}${err}`]).toEqual([1, expect.not.stringContaining('DE02')]);
    expect(out).toContain('UncaughtInPlugin');
  });
});

describe('plugins of an npm package', () => {
  const files = {
    'tws.json': { plugins: ['plugins', '@acme/tws-plugins'] },
    'node_modules/@acme/tws-plugins/package.json': { name: '@acme/tws-plugins', type: 'module' },
    'node_modules/@acme/tws-plugins/plugins/count.js': `
      export const description = 'Counts';
      export const params = { type: 'object', required: ['of'], properties: {
        of: { type: 'string', description: 'What is counted' }, most: { enum: [1, 2], default: 1 } } };
      console.log('loaded');
      export default ({ params }) => params.of.length;`,
    'plugins/bare.mjs': 'export default () => 1;',
    'couch/tws/tasks/count.json': task('count', { plugin: 'count', params: { of: 5 } }),
  };

  it('are found by its name, with their schemas', async () => {
    const cwd = await project(files);
    const { err, exit } = await call(cwd, ['validate']);
    expect(exit).toBe(0);
    expect(err).toContain('params does not suit plugin "count": of must be string.');
    const list = await call(cwd, ['list', '--plugins', '--json']);
    expect(list.err).toContain('count: loaded');
    expect(JSON.parse(list.out)).toMatchObject({ plugins: expect.anything() as unknown });
  });

  it('are documented from what they export', async () => {
    const cwd = await project(files);
    const { out } = await call(cwd, ['plugin', 'docs']);
    expect(out).toBe(
      [
        '## bare',
        'File: `plugins/bare.mjs`.',
        'Its parameters are not declared.',
        '## count',
        'Counts',
        'File: `node_modules/@acme/tws-plugins/plugins/count.js`.',
        '| parameter | type | required | |\n| --- | --- | --- | --- |\n| `of` | string | yes | What is counted. |\n| `most` | 1 or 2 |  | Default: `1`. |\n',
      ].join('\n\n'),
    );
    const { out: one } = await call(cwd, ['plugin', 'docs', 'count', '--json']);
    expect(JSON.parse(one)).toMatchObject([{ name: 'count', schema: { required: ['of'] } }]);
    expect((await call(cwd, ['plugin', 'docs', 'nix'])).err).toContain('There is no plugin "nix".');
  });
});
