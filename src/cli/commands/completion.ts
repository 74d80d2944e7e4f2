import { z } from 'zod';
import { problem } from '../../errors.js';
import { defineCommand } from '../command.js';
import { scripts, shells, type Shell } from '../completion/scripts.js';

/** `tws completion`: prints what a shell has to read to complete `tws`. */
export const completion = defineCommand(z.object({}), async ({ args }, io) => {
  const [shell = ''] = args;
  if (!isShell(shell)) {
    const reason = `There is no completion for "${shell}"; there is one for ${shells.join(', ')}.`;
    throw problem('usage', { reason });
  }
  io.result(scripts[shell].trimEnd());
  io.json({ shell, script: scripts[shell] });
  return 0;
});

function isShell(word: string): word is Shell {
  return shells.some((shell) => shell === word);
}
