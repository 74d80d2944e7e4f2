import type { CommandDefinition } from '../command.js';
import { jobArgument, requestOptions } from './options.js';

/** Jobs. */
export const jobs: readonly CommandDefinition[] = [
  {
    name: 'submit',
    about: 'Submit the job of a file, asking for every [[label]] in it.',
    arguments: [{ name: '<file>', about: 'File, name of a file in ~tws/jobs, or - for stdin.' }],
    options: [
      {
        flags: '--set <name=value>',
        about: 'Answer [[name]], or set the value at a dotted path; may be repeated.',
        repeated: true,
      },
      { flags: '--id <id>', about: 'Id of the job; submitting it again changes nothing.' },
      {
        flags: '--wait',
        about: 'Wait for the end and print the result; the exit status is that of the job.',
      },
      { flags: '--timeout <s>', about: 'With --wait: so many seconds at most (exit 124).' },
      {
        flags: '--give-up <s>',
        about: 'With --wait: so many seconds without any answer of CouchDB (exit 69); default 60.',
      },
    ],
    stoppable: true,
    examples: [
      'tws submit mailtest --wait',
      'tws submit mail-to --set to=me@example.com --set subject=Hello',
      'tws submit report --set params.mail-2.to=me@example.com --id report-2030-01 --wait',
    ],
    load: async () => (await import('../commands/submit.js')).submit,
  },
  {
    name: 'explain',
    about: 'Say why a job does not move, and what to do about it.',
    arguments: jobArgument,
    stoppable: true,
    examples: ['tws explain job-1'],
    load: async () => (await import('../commands/explain.js')).explain,
  },
  {
    name: 'cancel',
    about: 'Ask for the end of a job: running steps are stopped, the cancel branch runs.',
    arguments: jobArgument,
    options: requestOptions,
    examples: ['tws cancel job-1 --by ada --reason "wrong month"'],
    load: async () => (await import('../commands/request.js')).cancel,
  },
  {
    name: 'pause',
    about: 'Let no new step of a job begin; steps that run end.',
    arguments: jobArgument,
    options: requestOptions,
    examples: ['tws pause job-1'],
    load: async () => (await import('../commands/request.js')).pause,
  },
  {
    name: 'resume',
    about: 'Let a paused job go on.',
    arguments: jobArgument,
    options: requestOptions,
    examples: ['tws resume job-1'],
    load: async () => (await import('../commands/request.js')).resume,
  },
];
