import type { CommandDefinition } from './command.js';
import { beginning } from './program/beginning.js';
import { documents } from './program/documents.js';
import { jobs } from './program/jobs.js';
import { globalOptions } from './program/options.js';
import { hooks } from './program/hooks.js';
import { queues } from './program/queues.js';
import { running } from './program/running.js';
import { schedules } from './program/schedules.js';

export { globalOptions };

/** Completes what the other commands define, so it is given the definitions of all of them. */
const completing: CommandDefinition = {
  name: 'complete',
  about: 'What the scripts of completion ask.',
  arguments: [{ name: '[words...]', about: 'The shell, and what is written so far.' }],
  hidden: true,
  load: async () =>
    (await import('./commands/complete.js')).completeFor({ commands, globalOptions }),
};

/** All commands, in the order of `tws --help`. */
export const commands: readonly CommandDefinition[] = [
  ...beginning,
  ...documents,
  ...jobs,
  ...schedules,
  ...hooks,
  ...queues,
  ...running,
  completing,
];
