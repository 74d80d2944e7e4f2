import type { CommandDefinition, OptionDefinition } from './command.js';

/** Options that every command understands, before or after its name. */
export const globalOptions: readonly OptionDefinition[] = [
  { flags: '--url <url>', about: 'URL of CouchDB (or COUCH_URL).' },
  { flags: '--database <name>', about: 'Database (or COUCH_DATABASE).' },
  { flags: '--app <name>', about: 'Name of the design document (or COUCH_APPNAME).' },
  { flags: '--owner <name>', about: 'Owner of names that are given without one.' },
  { flags: '--json', about: 'Print results as JSON, and nothing else.' },
  { flags: '--quiet', about: 'Print nothing but errors.' },
];

const engineOptions: readonly OptionDefinition[] = [
  { flags: '--slots <n>', about: 'Steps to run at the same time.' },
  { flags: '--labels <a,b>', about: 'Labels of the engine: tasks may ask for them.' },
];
const mailPort: OptionDefinition = {
  flags: '--mail-port <n>',
  about: 'Port of the mail server; 0: a free one.',
};
const noConfirm: OptionDefinition = { flags: '--no-confirm', about: 'Ask nothing.' };
const requestOptions: readonly OptionDefinition[] = [
  { flags: '--reason <text>', about: 'Why; it is kept in the job.' },
  { flags: '--by <name>', about: 'Who asks; it is kept in the job.' },
];
const jobArgument = [{ name: '<job>', about: 'Id of the job.' }];

/** Trying it out and starting a project. */
const beginning: readonly CommandDefinition[] = [
  {
    name: 'quickstart',
    about: 'Show a workflow run from end to end, with nothing installed but this.',
    options: [
      { flags: '--keep', about: 'Keep the server and the engine running afterwards.' },
      {
        flags: '--dir <folder>',
        about: 'Folder of the data; default: a new one, removed at the end.',
      },
      mailPort,
    ],
    stoppable: true,
    load: async () => (await import('./commands/quickstart.js')).quickstart,
  },
  {
    name: 'dev',
    about: 'Run an embedded server, Fauxton and an engine for developing.',
    options: [
      { flags: '--port <n>', about: 'Port of the server; default 5984, 0: a free one.' },
      {
        flags: '--mailbox',
        about: 'Run a mail server (port 2525) and an S3 server (port 4568) for the samples, too.',
      },
      mailPort,
      { flags: '--s3-port <n>', about: 'Port of the S3 server; 0: a free one.' },
      { flags: '--no-engine', about: 'Run no engine.' },
      { flags: '--dir <folder>', about: 'Folder of the data; default .tws.' },
      ...engineOptions,
    ],
    stoppable: true,
    load: async () => (await import('./commands/dev.js')).dev,
  },
  {
    name: 'new',
    about: 'Make a project, or a task, a flow or a plugin in a project.',
    arguments: [
      { name: '<kind>', about: 'project, task, flow, job or plugin.' },
      { name: '<name>', about: 'Its name.' },
    ],
    options: [{ flags: '--plugin <name>', about: 'Plugin of a new task; default: its name.' }],
    examples: ['tws new project orders', 'tws new plugin hello'],
    load: async () => (await import('./commands/new.js')).newThing,
  },
  {
    name: 'init',
    about: 'Create the database and the design document, or insert what is missing.',
    options: [
      noConfirm,
      { flags: '--copies <n>', about: 'Copies of each document in a cluster; default 1.' },
    ],
    load: async () => (await import('./commands/init.js')).init,
  },
];

/** Definitions: from files into the database, and a look at them. */
const definitions: readonly CommandDefinition[] = [
  {
    name: 'push',
    about: 'Check tasks, flows and jobs in files, then store them.',
    arguments: [{ name: '[paths...]', about: 'Files or folders; ~tws/ is couch/tws.' }],
    options: [
      { flags: '--map', about: 'The design document, tasks and flows.' },
      { flags: '--tasks', about: 'The files of ~tws/tasks.' },
      { flags: '--flows', about: 'The files of ~tws/flows.' },
      { flags: '--jobs', about: 'The files of ~tws/jobs: each is submitted once.' },
      { flags: '--design', about: 'The design document.' },
      { flags: '--samples', about: 'The tasks and flows that come with tws, such as mailtest.' },
    ],
    examples: ['tws push --map', 'tws push ~tws/tasks/mail.json'],
    load: async () => (await import('./commands/push.js')).push,
  },
  {
    name: 'validate',
    about: 'Check files as push does, and write nothing.',
    arguments: [{ name: '[paths...]', about: 'Files or folders; default ~tws.' }],
    load: async () => (await import('./commands/validate.js')).validate,
  },
  {
    name: 'list',
    about: 'List what is stored, one line each: name => what it is (id).',
    options: [
      { flags: '--tasks', about: 'Tasks.' },
      { flags: '--flows', about: 'Flows.' },
      { flags: '--jobs', about: 'Jobs; those that have not ended, unless:' },
      { flags: '--active', about: 'Jobs that have not ended.' },
      { flags: '--complete', about: 'Jobs that have ended.' },
      { flags: '--failed', about: 'Jobs that have ended without success.' },
      { flags: '--cancelled', about: 'Jobs that were cancelled.' },
      { flags: '--all', about: 'All jobs.' },
      { flags: '--plugins', about: 'Plugins of this project, and their state.' },
      { flags: '--engines', about: 'Engines.' },
      { flags: '--limit <n>', about: 'Jobs at most; default 100.' },
      { flags: '--verbose', about: 'Whole documents.' },
    ],
    load: async () => (await import('./commands/list.js')).list,
  },
  {
    name: 'view',
    about: 'Print a document.',
    arguments: [{ name: '<id>', about: 'Its id, or the name of a flow or a task.' }],
    load: async () => (await import('./commands/view.js')).view,
  },
  {
    name: 'enable',
    about: 'Let jobs for a flow run.',
    arguments: [{ name: '<flow>', about: 'Id or name of the flow.' }],
    load: async () => (await import('./commands/enable.js')).enable,
  },
  {
    name: 'disable',
    about: 'Let new jobs for a flow fail.',
    arguments: [{ name: '<flow>', about: 'Id or name of the flow.' }],
    load: async () => (await import('./commands/enable.js')).disable,
  },
  {
    name: 'remove',
    about: 'Delete documents.',
    arguments: [{ name: '<ids...>', about: 'Their ids.' }],
    options: [noConfirm, { flags: '--force', about: 'Delete a job that has not ended, too.' }],
    load: async () => (await import('./commands/remove.js')).remove,
  },
];

/** Jobs. */
const jobs: readonly CommandDefinition[] = [
  {
    name: 'submit',
    about: 'Submit the job of a file, asking for every [[label]] in it.',
    arguments: [{ name: '<file>', about: 'File, name of a file in ~tws/jobs, or - for stdin.' }],
    options: [
      {
        flags: '--set <name=value>',
        about: 'Answer a [[label]], or set a value by its dotted path.',
        repeated: true,
      },
      { flags: '--id <id>', about: 'Id of the job; submitting it again changes nothing.' },
      { flags: '--wait', about: 'Wait for the end; the exit status is that of the job.' },
      { flags: '--timeout <s>', about: 'With --wait: wait so many seconds at most (exit 124).' },
      {
        flags: '--give-up <s>',
        about: 'With --wait: seconds without an answer of the database (exit 69); default 60.',
      },
    ],
    stoppable: true,
    examples: [
      'tws submit mailtest --wait',
      'tws submit mail-to --set to=me@example.com --set subject=Hello',
    ],
    load: async () => (await import('./commands/submit.js')).submit,
  },
  {
    name: 'explain',
    about: 'Say why a job does not move, and what to do about it.',
    arguments: jobArgument,
    stoppable: true,
    load: async () => (await import('./commands/explain.js')).explain,
  },
  {
    name: 'cancel',
    about: 'Ask for the end of a job.',
    arguments: jobArgument,
    options: requestOptions,
    load: async () => (await import('./commands/request.js')).cancel,
  },
  {
    name: 'pause',
    about: 'Let no new step of a job begin.',
    arguments: jobArgument,
    options: requestOptions,
    load: async () => (await import('./commands/request.js')).pause,
  },
  {
    name: 'resume',
    about: 'Let a paused job go on.',
    arguments: jobArgument,
    options: requestOptions,
    load: async () => (await import('./commands/request.js')).resume,
  },
  {
    name: 'retry',
    about: 'Let a job that has ended go on: at the step that failed, or at any other.',
    arguments: [{ name: '[job...]', about: 'Ids of jobs.' }],
    options: [
      { flags: '--from <step>', about: 'Begin again at this step: its name, <task>-<n> or path.' },
      { flags: '--params <json>', about: 'Parameters to change, by task or step.' },
      { flags: '--latest', about: 'With the flow and the tasks as they are now.' },
      { flags: '--failed', about: 'All failed jobs, or those that the next options choose.' },
      { flags: '--flow <name>', about: 'With --failed: jobs of this flow.' },
      { flags: '--failure <name>', about: 'With --failed: jobs that failed with this failure.' },
      { flags: '--limit <n>', about: 'With --failed: so many jobs at most; default 100.' },
      ...requestOptions,
    ],
    examples: [
      'tws retry 4f1c',
      'tws retry 4f1c --from load --params \'{"load": {"table": "b"}}\'',
      'tws retry --failed --flow mailtest --failure ECONNREFUSED --latest',
    ],
    load: async () => (await import('./commands/repair.js')).retry,
  },
  {
    name: 'skip',
    about: 'Leave a step of a job out; it counts as done.',
    arguments: [...jobArgument, { name: '<step>', about: 'Its name, <task>-<n> or path.' }],
    options: requestOptions,
    load: async () => (await import('./commands/repair.js')).skip,
  },
  {
    name: 'note',
    about: 'Keep a remark in a job.',
    arguments: [...jobArgument, { name: '<text...>', about: 'What is to be remembered.' }],
    options: [{ flags: '--by <name>', about: 'Whose remark it is.' }],
    load: async () => (await import('./commands/repair.js')).note,
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
    load: async () => (await import('./commands/messages.js')).signal,
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
    load: async () => (await import('./commands/messages.js')).event,
  },
  {
    name: 'history',
    about: 'Print what has happened in a job, as ordered events.',
    arguments: jobArgument,
    load: async () => (await import('./commands/history.js')).history,
  },
];

/** Running and looking after it. */
const running: readonly CommandDefinition[] = [
  {
    name: 'start',
    about: 'Run an engine until it is stopped; it finishes its steps first.',
    options: [
      { flags: '--engines <n>', about: 'Run that many engines, each a process.' },
      ...engineOptions,
      {
        flags: '--name <name>',
        about: 'Name that stays over restarts; no two engines may share it.',
      },
    ],
    stoppable: true,
    load: async () => (await import('./commands/start.js')).start,
  },
  {
    name: 'encrypt',
    about: 'Encrypt a value with TWS_CRYPTO_KEY; it is asked for, or read from stdin.',
    load: async () => (await import('./commands/encrypt.js')).encrypt,
  },
  {
    name: 'decrypt',
    about: 'Decrypt a value with TWS_CRYPTO_KEY; it is asked for, or read from stdin.',
    load: async () => (await import('./commands/encrypt.js')).decrypt,
  },
  {
    name: 'config',
    about: 'Print every setting and where it comes from.',
    load: async () => (await import('./commands/config.js')).showConfig,
  },
  {
    name: 'doctor',
    about: 'Look for what is wrong, and say what to do.',
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
];

/** All commands, in the order of `tws --help`. */
export const commands: readonly CommandDefinition[] = [
  ...beginning,
  ...definitions,
  ...jobs,
  ...running,
];
