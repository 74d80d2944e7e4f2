import type { CommandDefinition } from '../command.js';
import { jobArgument, requestOptions } from './options.js';

/** Jobs. */
export const jobs: readonly CommandDefinition[] = [
  {
    name: 'submit',
    about: 'Submit the job of a file, asking for every [[label]] in it.',
    arguments: [
      {
        name: '<file>',
        about: 'File, name of a file in ~tws/jobs, or - for stdin.',
        values: { named: ['job-file', 'file'] },
      },
    ],
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
    name: 'watch',
    about: 'Follow a job to its end, whose exit status it has; without a job all changes of jobs.',
    arguments: [
      {
        name: '[job]',
        about: 'Id of the job, or name of a flow that has one.',
        values: { named: ['job'] },
      },
    ],
    options: [
      {
        flags: '--flow <names>',
        about: 'Without a job: only jobs of these flows.',
        values: { named: ['flow'] },
      },
      {
        flags: '--status <a,b>',
        about: 'Without a job: only jobs that come to one of these.',
        values: async () => (await import('../../model/status.js')).statuses,
      },
    ],
    stoppable: true,
    examples: ['tws watch job-1', 'tws watch --flow mailtest --status failed', 'tws watch --json'],
    load: async () => (await import('../commands/watch.js')).watch,
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
  {
    name: 'retry',
    about: 'Let a job that has ended go on: at the step that failed, or at any other.',
    arguments: [{ name: '[job...]', about: 'Ids of jobs.', values: { named: ['job'] } }],
    options: [
      { flags: '--from <step>', about: 'Begin again at this step: its name, <task>-<n> or path.' },
      { flags: '--params <json>', about: 'Parameters to change, by task or step.' },
      { flags: '--latest', about: 'With the flow and the tasks as they are now.' },
      { flags: '--failed', about: 'All failed jobs, or those that the next options choose.' },
      {
        flags: '--flow <name>',
        about: 'With --failed: jobs of this flow.',
        values: { named: ['flow'] },
      },
      { flags: '--failure <name>', about: 'With --failed: jobs that failed with this failure.' },
      { flags: '--limit <n>', about: 'With --failed: so many jobs at most; default 100.' },
      ...requestOptions,
    ],
    examples: [
      'tws retry 4f1c',
      'tws retry 4f1c --from load --params \'{"load": {"table": "b"}}\'',
      'tws retry --failed --flow mailtest --failure ECONNREFUSED --latest',
    ],
    load: async () => (await import('../commands/repair.js')).retry,
  },
  {
    name: 'skip',
    about: 'Leave a step of a job out; it counts as done.',
    arguments: [...jobArgument, { name: '<step>', about: 'Its name, <task>-<n> or path.' }],
    options: requestOptions,
    examples: ['tws skip 4f1c load --reason "loaded by hand"'],
    load: async () => (await import('../commands/repair.js')).skip,
  },
  {
    name: 'note',
    about: 'Keep a remark in a job.',
    arguments: [...jobArgument, { name: '<text...>', about: 'What is to be remembered.' }],
    options: [{ flags: '--by <name>', about: 'Whose remark it is.' }],
    examples: ['tws note 4f1c "The customer was told." --by ada'],
    load: async () => (await import('../commands/repair.js')).note,
  },
  {
    name: 'signal',
    about: 'Send a signal to a job, which may wait for it now, later, or not be there yet.',
    arguments: [...jobArgument, { name: '<name>', about: 'Name of the signal.' }],
    options: [
      { flags: '--data <json>', about: 'What it brings: JSON, or a text.' },
      { flags: '--by <name>', about: 'Who sends it.' },
      { flags: '--id <id>', about: 'The same signal sent again counts once.' },
    ],
    examples: ['tws signal 4f1c approved --data \'{"by": "Ann"}\''],
    load: async () => (await import('../commands/messages.js')).signal,
  },
  {
    name: 'event',
    about: 'Announce an event to every job that waits for it, now or later.',
    arguments: [
      { name: '<type>', about: 'Type of the event.' },
      { name: '[key]', about: 'What it is about.' },
    ],
    options: [{ flags: '--data <json>', about: 'What it brings: JSON, or a text.' }],
    examples: ['tws event payment order-7 --data \'{"sum": 3}\''],
    load: async () => (await import('../commands/messages.js')).event,
  },
  {
    name: 'history',
    about: 'Print what has happened in a job, as ordered events.',
    arguments: jobArgument,
    examples: ['tws history 4f1c', 'tws history 4f1c --json'],
    load: async () => (await import('../commands/history.js')).history,
  },
];
