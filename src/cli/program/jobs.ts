import type { CommandDefinition } from '../command.js';
import { chosenJobs, flowOption, jobArgument, jobsArgument, requestOptions } from './options.js';

/** Jobs. */
export const jobs: readonly CommandDefinition[] = [
  {
    name: 'submit',
    about: 'Submit a job from a file, or of a stored flow; missing values are asked for.',
    arguments: [
      {
        name: '<what>',
        about:
          'File, name of a file in ~tws/jobs, - for stdin, or a stored flow: its name (name::owner) or id.',
        values: { named: ['job-file', 'flow', 'file'] },
      },
    ],
    options: [
      { flags: '--params <json>', about: 'Parameters of the job: a JSON object, or @file.' },
      {
        flags: '--set <name=value>',
        about:
          'Answer [[name]], or set the value at a dotted path; of a flow: a parameter; may be repeated.',
        repeated: true,
      },
      {
        flags: '--stored-flow',
        about: 'Submit a stored flow, even where a file has its name.',
      },
      {
        flags: '--flow-version <version>',
        about: 'Version of the flow; default: the current one.',
      },
      { flags: '--id <id>', about: 'Id of the job; submitting it again changes nothing.' },
      {
        flags: '--subject <text>',
        about: 'The subject whose sensitive values its steps may use, or its reference.',
      },
      {
        flags: '--queue <name>',
        about: 'Queue of the job: only engines that serve it run its steps.',
      },
      {
        flags: '--wait',
        about: 'Wait for the end and print the result; the exit status is that of the job.',
      },
      {
        flags: '--timeout <duration>',
        about: 'With --wait: wait at most so long (5s, 500ms, 2m; a number: seconds; exit 124).',
      },
      {
        flags: '--give-up <duration>',
        about:
          'With --wait: give up after so long without an answer of CouchDB (exit 69); default 60s.',
      },
    ],
    stoppable: true,
    examples: [
      'tws submit mailtest --wait',
      'tws submit report --params \'{"month": "2030-01"}\' --owner me',
      'tws submit report::me --set month=2030-01 --wait',
      'tws submit mail-to --set to=me@example.com --set subject=Hello',
      'tws submit report --set params.mail-2.to=me@example.com --id report-2030-01 --wait',
    ],
    load: async () => (await import('../commands/submit.js')).submit,
  },
  {
    name: 'watch',
    about:
      'Follow a job to its end and exit with its status; without a job, follow all changes of jobs.',
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
    about: 'Say why a job does not move, and what to do about it; or what an event has started.',
    arguments: jobArgument,
    stoppable: true,
    examples: ['tws explain job-1', 'tws explain event:paid:7'],
    load: async () => (await import('../commands/explain.js')).explain,
  },
  {
    name: 'cancel',
    about: 'Cancel jobs: running steps are stopped, the cancel branch runs.',
    arguments: jobsArgument,
    options: [...chosenJobs('unfinished'), ...requestOptions],
    stoppable: true,
    examples: [
      'tws cancel job-1 --by ada --reason "wrong month"',
      'tws cancel --every --flow report --status waiting',
    ],
    load: async () => (await import('../commands/request.js')).cancel,
  },
  {
    name: 'pause',
    about: 'Pause jobs: no new step begins; running steps go on to their end.',
    arguments: jobsArgument,
    options: [...chosenJobs('unfinished'), ...requestOptions],
    stoppable: true,
    examples: ['tws pause job-1', 'tws pause --every --flow report'],
    load: async () => (await import('../commands/request.js')).pause,
  },
  {
    name: 'resume',
    about: 'Resume paused jobs.',
    arguments: jobsArgument,
    options: [...chosenJobs('paused'), ...requestOptions],
    stoppable: true,
    examples: ['tws resume job-1', 'tws resume --every --flow report'],
    load: async () => (await import('../commands/request.js')).resume,
  },
  {
    name: 'retry',
    about: 'Retry a job that has ended, from the step that failed or from any other.',
    arguments: jobsArgument,
    options: [
      {
        flags: '--from <step>',
        about:
          'Begin again at this step or structure: its name, <task>-<n> or path; "." is the whole flow. A map goes over its list as it is now; its items count from 0 ("2.map.17").',
      },
      { flags: '--params <json>', about: 'Parameters to change, by task or step.' },
      { flags: '--latest', about: 'With the flow and the tasks as they are now.' },
      { flags: '--failed', about: 'All failed jobs, or those that the next options choose.' },
      { ...flowOption, about: 'With --failed: jobs of this flow, as name or name::owner.' },
      {
        flags: '--failure <name>',
        about: 'With --failed: jobs that failed with this failure or code.',
      },
      { flags: '--limit <n>', about: 'With --failed: at most this many jobs, the newest first.' },
      ...requestOptions,
    ],
    stoppable: true,
    examples: [
      'tws retry 4f1c',
      'tws retry 4f1c --from load --params \'{"load": {"table": "b"}}\'',
      'tws retry --failed --flow mailtest --failure ECONNREFUSED --latest',
    ],
    load: async () => (await import('../commands/repair.js')).retry,
  },
  {
    name: 'migrate',
    about:
      'Move jobs that have not ended to another version of their flow, where what they did allows it.',
    arguments: [
      {
        name: '<flow|job...>',
        about: 'Ids of jobs, or flows (name or name::owner): all their jobs that have not ended.',
        values: { named: ['flow', 'job'] },
      },
    ],
    options: [
      {
        flags: '--to <version>',
        about:
          'The version; default: the flow as it is stored now, in the version that a job asked for, else the current one.',
      },
      { flags: '--dry-run', about: 'List which jobs can move and why others cannot.' },
      { flags: '--limit <n>', about: 'At most this many jobs.' },
      ...requestOptions,
    ],
    stoppable: true,
    examples: [
      'tws migrate order --to 2 --dry-run',
      'tws migrate order --to 2 --reason "fixed prices"',
      'tws migrate 4f1c --to 2',
    ],
    load: async () => (await import('../commands/migrate.js')).migrate,
  },
  {
    name: 'skip',
    about: 'Skip a step of a job; it counts as done.',
    arguments: [...jobArgument, { name: '<step>', about: 'Its name, <task>-<n> or path.' }],
    options: requestOptions,
    examples: ['tws skip 4f1c load --reason "loaded by hand"'],
    load: async () => (await import('../commands/repair.js')).skip,
  },
  {
    name: 'note',
    about: 'Add a note to a job.',
    arguments: [...jobArgument, { name: '<text...>', about: 'The text of the note.' }],
    options: [{ flags: '--by <name>', about: 'Who writes it.' }],
    examples: ['tws note 4f1c "The customer was told." --by ada'],
    load: async () => (await import('../commands/repair.js')).note,
  },
  {
    name: 'signal',
    about: 'Send a signal to a job, whether it waits for it now or later, or does not exist yet.',
    arguments: [...jobArgument, { name: '<name>', about: 'Name of the signal.' }],
    options: [
      { flags: '--data <json>', about: 'What it brings: JSON, or a text.' },
      { flags: '--by <name>', about: 'Who sends it.' },
      { flags: '--id <id>', about: 'The same signal sent again counts once.' },
      { flags: '--start <flow>', about: 'Start the job with this flow if it does not exist.' },
      { flags: '--owner <name>', about: 'With --start: owner of flow and job; default DEFAULT.' },
      { flags: '--params <json>', about: 'With --start: parameters of the job, by task.' },
      { flags: '--wait', about: 'Wait for the answer of the flow, and print it.' },
      {
        flags: '--timeout <duration>',
        about: 'With --wait: wait at most so long (5s, 500ms, 2m; a number: seconds; exit 124).',
      },
    ],
    stoppable: true,
    examples: [
      'tws signal 4f1c approved --data \'{"by": "Ann"}\'',
      'tws signal cart-7 add --data \'{"item": 3}\' --start cart',
      'tws signal cart-7 add --data \'{"item": 3}\' --wait --timeout 30',
    ],
    load: async () => (await import('../commands/messages.js')).signal,
  },
  {
    name: 'inbox',
    about: "List the forms that wait for a person's answer, the soonest due first.",
    options: [
      { flags: '--for <name>', about: 'Only those for this user.' },
      { flags: '--group <name>', about: 'Only those for this role.' },
      { flags: '--all', about: 'Those of everybody, as without --for and --group.' },
      { flags: '--limit <n>', about: 'At most this many; default 100.' },
    ],
    examples: ['tws inbox', 'tws inbox --for ann', 'tws inbox --group finance --json'],
    load: async () => (await import('../commands/inbox.js')).inbox,
  },
  {
    name: 'answer',
    about: 'Answer a form; without --data its fields are asked for.',
    arguments: [
      ...jobArgument,
      { name: '[step]', about: 'Path or name of the step, where several forms wait.' },
    ],
    options: [
      { flags: '--data <json>', about: 'The answer: a JSON object.' },
      { flags: '--as <name>', about: 'Who answers, where the database has no users.' },
    ],
    stoppable: true,
    examples: [
      'tws answer pay-17',
      'tws answer pay-17 sign --data \'{"approved": true}\' --as ann',
    ],
    load: async () => (await import('../commands/inbox.js')).answer,
  },
  {
    name: 'event',
    about: 'Announce an event to every job that waits for it, now or later.',
    arguments: [
      { name: '<type>', about: 'Type of the event.' },
      { name: '[key]', about: 'What it is about.' },
    ],
    options: [
      { flags: '--data <json>', about: 'What it brings: JSON, or a text.' },
      {
        flags: '--ttl <duration>',
        about: 'How long it releases waits: 30s, 1h; a number: milliseconds.',
      },
      { flags: '--id <id>', about: 'Tells it apart from other events of this type and key.' },
    ],
    examples: [
      'tws event payment order-7 --data \'{"sum": 3}\'',
      'tws event reading room-1 --id 2026-11-26T10:00 --data 21.5 --ttl PT1H',
    ],
    load: async () => (await import('../commands/messages.js')).event,
  },
  {
    name: 'history',
    about: 'Print what has happened in a job, as ordered events.',
    arguments: jobArgument,
    examples: ['tws history 4f1c', 'tws history 4f1c --json'],
    load: async () => (await import('../commands/history.js')).history,
  },
  {
    name: 'logs',
    about: 'Print what the plugins of a job have logged, by time; each attempt keeps 50 lines.',
    arguments: jobArgument,
    options: [
      { flags: '--step <step>', about: 'Only of this step: its name or path.' },
      { flags: '-f, --follow', about: 'Print new lines until the job ends.' },
    ],
    stoppable: true,
    examples: ['tws logs 4f1c', 'tws logs 4f1c --step load --follow'],
    load: async () => (await import('../commands/logs.js')).logs,
  },
];
