import type { CommandDefinition } from './command.js';
import { beginning } from './program/beginning.js';
import { documents } from './program/documents.js';
import { jobs } from './program/jobs.js';
import { running } from './program/running.js';

export { globalOptions } from './program/options.js';

/** All commands, in the order of `tws --help`. */
export const commands: readonly CommandDefinition[] = [
  ...beginning,
  ...documents,
  ...jobs,
  ...running,
];
