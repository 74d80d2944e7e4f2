import { z } from 'zod';
import type { Flags } from '../../config/flags.js';
import { loadConfig } from '../../config/load.js';
import { defineCommand, type Command } from '../command.js';
import { completionsFor, type Candidate, type ProgramCommands } from '../completion/candidates.js';
import { namesFor } from '../completion/names.js';
import { forBash, wordsIn } from '../completion/shell-line.js';
import type { Io } from '../io.js';
import { resolvePath } from '../paths.js';
import { plain } from '../safe.js';

/**
 * `tws complete`: what shells ask while a command line is being written. Prints a candidate a line,
 * for zsh and fish with a tab and what it is. It never fails and never says anything else.
 */
export function completeFor(program: ProgramCommands): Command {
  return defineCommand(z.object({}), async ({ args }, io) => {
    const [shell = '', ...given] = args;
    const words = shell === 'bash' ? wordsIn(given[0] ?? '').slice(1) : given;
    const candidates = await candidatesFor(words, program, io).catch(() => []);
    const written = words.at(-1) ?? '';
    for (const { value, about } of candidates) {
      if (/[\p{Cc}]/u.test(value)) continue;
      if (shell === 'bash') io.result(forBash(value, written));
      else io.result(about === '' ? value : `${value}\t${plain(about)}`);
    }
    io.json(candidates);
    return 0;
  });
}

async function candidatesFor(
  words: readonly string[],
  program: ProgramCommands,
  io: Io,
): Promise<readonly Candidate[]> {
  const { candidates, names } = await completionsFor(words, program);
  if (names === undefined) return candidates;
  const config = () => loadConfig({ flags: settingsIn(words), env: io.env, cwd: io.cwd });
  return namesFor(names, {
    cwd: io.cwd,
    jobFiles: resolvePath('~tws/jobs', { cwd: io.cwd, root: config().root }),
    open: async () => (await import('../../client.js')).openDatabase(config()),
  });
}

/** The database that the line itself names. */
function settingsIn(words: readonly string[]): Flags {
  const valueOf = (flag: string): string | undefined => {
    const at = words.indexOf(flag);
    const joined = words.find((word) => word.startsWith(`${flag}=`));
    return joined?.slice(flag.length + 1) ?? (at < 0 ? undefined : words[at + 1]);
  };
  return { url: valueOf('--url'), database: valueOf('--database'), app: valueOf('--app') };
}
