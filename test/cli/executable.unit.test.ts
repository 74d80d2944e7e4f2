import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commands as all, globalOptions } from '../../src/cli/program.js';
import { tws } from './executable.js';
import { project } from './terminal.js';

/** Those that people call. */
const commands = all.filter(({ hidden }) => hidden !== true);

async function call(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const called = tws(args, { cwd: await project(), env });
  const exit = await called.ended;
  return { exit, out: called.out(), err: called.err() };
}

describe('the executable', () => {
  it('shows its commands, with and without --help', async () => {
    for (const args of [[], ['--help'], ['help']]) {
      const { exit, out, err } = await call(args);
      expect([exit, err]).toEqual([0, '']);
      for (const { name } of commands) expect(out).toContain(`\n  ${name} `);
    }
  });

  it('says its version and the help of each command', async () => {
    expect((await call(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await call(['submit', '--help'])).out).toContain('--set <name=value>');
    expect((await call(['help', 'push'])).out).toContain('tws push --map');
  });

  it.each(commands.map((command) => [command.name, command] as const))(
    'has examples of %s that name the command and options it has',
    (name, { examples = [], options = [] }) => {
      expect(examples.length).toBeGreaterThan(0);
      const known = [...globalOptions, ...options].map(({ flags }) => /--[a-z-]+/.exec(flags)?.[0]);
      for (const example of examples) {
        expect(example).toContain(`tws ${name}`);
        for (const [flag] of example.matchAll(/--[a-z-]+/g)) expect(known).toContain(flag);
      }
    },
  );

  it('describes every command, argument and option in a sentence', () => {
    const parts = [
      ...globalOptions,
      ...commands.flatMap((one) => [one, ...(one.arguments ?? []), ...(one.options ?? [])]),
    ];
    for (const { about } of parts) expect(about).toMatch(/^[A-Zp~].*\.$/);
  });

  it.each(commands.map(({ name, load }) => [name, load] as const))(
    'has a function behind %s',
    async (_name, load) => {
      expect(await load()).toBeTypeOf('function');
    },
  );

  it.each([
    [['puhs'], 'did you mean "push"'],
    [['list', '--colour'], "Unknown option '--colour'"],
    [['view'], '"tws view" needs <id>'],
    [['schedule'], '"tws schedule" needs <action>. What to do: list, show, next, pause,'],
    [['remove', '--force'], '"tws remove" needs <ids...>'],
    [['list', '--limit', 'many'], '--limit must be a whole number from 1 on.'],
  ])('refuses %j with a sentence and status 2', async (args, sentence) => {
    const { exit, out, err } = await call(args);
    expect(exit).toBe(2);
    expect(out).toBe('');
    expect(err).toContain(sentence);
    expect(err).toContain('tws --help');
  });

  it('tells an error as JSON with --json, before or after the command', async () => {
    for (const args of [
      ['--json', 'view', 'x'],
      ['view', 'x', '--json'],
    ]) {
      const { exit, out, err } = await call(args, { COUCH_URL: 'http://127.0.0.1:2' });
      expect([exit, out]).toEqual([69, '']);
      expect(JSON.parse(err)).toEqual({
        error: 'couch_unreachable',
        message: expect.stringContaining('http://127.0.0.1:2') as string,
        hint: expect.stringContaining('COUCH_URL') as string,
      });
    }
  });

  it.each([
    ['push', '--map', '--no-confirm'],
    ['--no-confirm', 'list'],
    ['config', '--no-confirm'],
  ])('lets every command be told to ask nothing: %s %s %s', async (...args) => {
    const { err } = await call(
      args.filter((one) => typeof one === 'string'),
      { COUCH_URL: 'http://127.0.0.1:2' },
    );
    expect(err).not.toContain('nknown option');
  });

  it('prints results as JSON alone, and nothing with --quiet', async () => {
    const { out } = await call(['--json', 'config']);
    expect(JSON.parse(out)).toMatchObject({ settings: { app: { value: 'tws', from: 'default' } } });
    expect(await call(['--quiet', 'config'])).toEqual({ exit: 0, out: '', err: '' });
  });

  it('takes settings from flags', async () => {
    const { out } = await call(['config', '--url', 'http://h:1', '--database', 'x']);
    expect(out).toContain('url: http://h:1 (--url)');
    expect(out).toContain('database: x (--database)');
  });

  it.each([
    ['--help', [['--help']], /^(?!src\/).*(?:zod|nano|lru-cache|config|client)/],
    [
      ...(['a command that asks the database once', [['list', '--jobs']]] as const),
      /^src\/(?:decide|engine|evaluate)\//,
    ],
  ])('loads little for %s', async (_what, [args], never) => {
    const root = await project();
    const hook = `import { appendFileSync } from 'node:fs'; export const load = (url, context, next) => {
      appendFileSync(${JSON.stringify(join(root, 'loaded'))}, url + '\\n');
      return next(url, context);
    };`;
    const hooks = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hook))});`;
    const env = { COUCH_URL: 'http://127.0.0.1:2', NODE_OPTIONS: `--import ${dataUrl(hooks)}` };
    await tws(args ?? [], { cwd: root, env }).ended;
    const lines = (await readFile(join(root, 'loaded'), 'utf8')).split('\n');
    const urls = lines.filter((url) => url.startsWith('file:'));
    const files = urls.map((url) => basename(url, '.js'));
    expect(files).toContain('main');
    const modules = (await Promise.all(urls.map(modulesIn))).flat();
    expect(modules).toContain('src/errors.ts');
    expect([...files, ...modules].filter((name) => never.test(name))).toEqual([]);
    expect(files.length).toBeLessThan(94);
  });
});

/** The sources that a file of the build was made of, which it names. */
async function modulesIn(url: string): Promise<readonly string[]> {
  const text = await readFile(new URL(url), 'utf8');
  return [...text.matchAll(/^\/\/ (src\/\S+)$/gm)].map(([, source = '']) => source);
}

/** A module of this source. */
const dataUrl = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;
