import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { CommandDefinition } from '../../src/cli/command.js';
import { completionsFor, type ProgramCommands } from '../../src/cli/completion/candidates.js';
import { scripts, shells } from '../../src/cli/completion/scripts.js';
import { forBash, wordsIn } from '../../src/cli/completion/shell-line.js';
import { packageRoot } from '../../src/package.js';
import { commands, globalOptions } from '../../src/cli/program.js';
import { needPrograms } from '../support/programs.js';

const load = () => Promise.reject(new Error('nothing is run'));
const mow: CommandDefinition = {
  name: 'mow',
  about: 'Mow.',
  arguments: [
    { name: '<lawn>', about: 'Which.', values: { named: ['flow', 'file'] } },
    { name: '[more...]', about: 'More.', values: ['front', 'back'] },
  ],
  options: [
    { flags: '--height <cm>', about: 'How high.', values: ['low', 'lower', 'high'] },
    { flags: '--set <name=value>', about: 'Set.', repeated: true },
    { flags: '--http [port]', about: 'Serve.' },
    { flags: '--dry', about: 'Not wet.' },
  ],
  load,
};
const program: ProgramCommands = {
  commands: [
    mow,
    { name: 'move', about: 'Move.', load },
    { name: 'own', about: '', hidden: true, load },
  ],
  globalOptions: [
    { flags: '--database <name>', about: 'Which.' },
    { flags: '--json', about: '' },
  ],
};

async function after(...words: readonly string[]): Promise<readonly string[]> {
  return (await completionsFor(words, program)).candidates.map(({ value }) => value);
}

describe('What a word may become', () => {
  it.each<readonly [string, readonly string[], readonly string[]]>([
    ['all commands but hidden ones', [''], ['mow', 'move', 'help']],
    ['commands that begin so', ['mov'], ['move']],
    ['options of tws', ['--'], ['--database', '--json', '--help', '--version']],
    ['a command behind an option with a value', ['--database', 'mow', 'mo'], ['mow', 'move']],
    ['options of a command', ['mow', '--h'], ['--height', '--http', '--help']],
    ['no option twice', ['mow', '--dry', '--d'], ['--database']],
    ['one that may be repeated twice', ['mow', '--set', 'a=b', '--s'], ['--set']],
    ['a value of an option', ['mow', '--height', 'lo'], ['low', 'lower']],
    ['a value behind =', ['mow', '--height=h'], ['--height=high']],
    ['the last of a list', ['mow', '--height', 'low,hi'], ['low,high']],
    ['nothing for a value that can be anything', ['mow', '--database', ''], []],
    ['an argument behind one with a value', ['mow', '--http', 'x', ''], ['front', 'back']],
    ['further arguments', ['mow', 'a', 'front', 'b'], ['back']],
    ['arguments after --', ['mow', 'a', '--', '--'], []],
    ['commands after help', ['help', 'mow'], ['mow']],
    ['nothing after a command that there is not', ['mown', ''], []],
  ])('is %s', async (_title, words, candidates) => {
    expect(await after(...words)).toEqual(candidates);
  });

  it('is a name of the database or a file where the argument says so', async () => {
    const { names } = await completionsFor(['mow', 'ab'], program);
    expect(names).toEqual({ sources: ['flow', 'file'], prefix: '', begun: 'ab' });
  });

  it('can be found out for every option and argument of tws', async () => {
    for (const { name, options = [], arguments: given = [] } of commands) {
      for (const { flags } of options) {
        const [flag = ''] = flags.split(' ');
        await expect(
          completionsFor([name, flag, ''], { commands, globalOptions }),
        ).resolves.toBeDefined();
      }
      const words = [name, ...given.map(() => 'x'), ''];
      await expect(completionsFor(words, { commands, globalOptions })).resolves.toBeDefined();
    }
  });
});

describe('A line of bash', () => {
  it.each([
    ['tws watch j', ['tws', 'watch', 'j']],
    ['tws  watch ', ['tws', 'watch', '']],
    ['tws note j "two wo', ['tws', 'note', 'j', 'two wo']],
    ["tws note j 'it\\'", ['tws', 'note', 'j', 'it\\']],
    ['tws view a\\ b', ['tws', 'view', 'a b']],
    ['tws note j "" ', ['tws', 'note', 'j', '', '']],
  ])('%s has its words', (line, words) => {
    expect(wordsIn(line)).toEqual(words);
  });

  it.each([
    ['report', 'rep', 'report'],
    ['flow:DEFAULT:x', 'flow:D', 'DEFAULT:x'],
    ['--format=svg', '--format=s', 'svg'],
    ['my job; rm *', 'my', 'my\\ job\\;\\ rm\\ \\*'],
  ])('takes %s in place of %s as %s', (candidate, written, put) => {
    expect(forBash(candidate, written)).toBe(put);
  });
});

/** Runs a shell that finds this `tws`. */
async function inShell(shell: string, script: string): Promise<string> {
  const bin = await mkdtemp(join(tmpdir(), 'tws-shell-'));
  onTestFinished(() => rm(bin, { recursive: true, force: true }));
  const tws = join(packageRoot(), 'bin', 'tws.js');
  await writeFile(join(bin, 'tws'), `#!/bin/sh\nexec "${process.execPath}" "${tws}" "$@"\n`);
  await chmod(join(bin, 'tws'), 0o755);
  const PATH = `${bin}:${process.env['PATH'] ?? ''}`;
  const env = { PATH, HOME: bin, TERM: 'dumb', COUCH_URL: 'http://127.0.0.1:1' };
  const ran = spawnSync(shell, ['-c', script], { env, cwd: bin, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  return ran.stdout;
}

const ask = (line: string): string => `
  COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}; COMP_WORDS=(tws); COMP_CWORD=1
  _tws_completion; printf '%s\\n' "\${COMPREPLY[@]}"; echo --`;

describe('The script for bash', () => {
  it('completes commands, options and values, and keeps silent when the database is away', async () => {
    needPrograms('bash');
    const lines = ['tws expl', 'tws graph --for', 'tws graph x --format ', 'tws watch j'];
    const told = await inShell(
      'bash',
      `eval "$(tws completion bash)"; ${lines.map(ask).join('; ')}`,
    );
    expect(told).toBe('explain\n--\n--format\n--\nmermaid\nsvg\njson\n--\n\n--\n');
  });

  it('is registered for tws', async () => {
    needPrograms('bash');
    const told = await inShell('bash', 'eval "$(tws completion bash)"; complete -p tws');
    expect(told).toContain('-F _tws_completion tws');
  });
});

describe('The scripts', () => {
  it.each(shells.filter((shell) => spawnSync(shell, ['-c', ':']).error === undefined))(
    'are read by %s as far as it is there',
    async (shell) => {
      const load =
        shell === 'fish' ? 'tws completion fish | source' : `eval "$(tws completion ${shell})"`;
      const before = shell === 'zsh' ? 'autoload -U compinit; compinit -u -D; ' : '';
      expect(await inShell(shell, `${before}${load}; echo read`)).toBe('read\n');
    },
  );

  it('ask the program and list nothing themselves', () => {
    for (const shell of shells) {
      expect(scripts[shell]).toContain(`complete ${shell} --`);
      expect(scripts[shell]).not.toMatch(/explain|submit/);
    }
  });
});
