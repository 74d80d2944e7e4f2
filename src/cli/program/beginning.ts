import { optionOf } from '../../config/table.js';
import type { CommandDefinition } from '../command.js';
import { engineOptions, httpPlace, mailPort } from './options.js';
import { storageKinds } from '../../storage-kinds.js';

/** Trying it out and starting a project. */
export const beginning: readonly CommandDefinition[] = [
  {
    name: 'quickstart',
    about:
      'Run a sample job from end to end: a server, an engine and a mail, with nothing to install.',
    options: [
      { flags: '--keep', about: 'Keep the server and the engine running afterwards.' },
      {
        flags: '--dir <folder>',
        about: 'Folder of the data; default: a new one, removed at the end (with --keep: .tws).',
      },
      mailPort,
    ],
    stoppable: true,
    examples: ['tws quickstart', 'tws quickstart --keep'],
    load: async () => (await import('../commands/quickstart.js')).quickstart,
  },
  {
    name: 'dev',
    about:
      'Run everything that development needs: an embedded server, Fauxton, an engine; push couch/tws.',
    options: [
      optionOf('embedded.port'),
      { flags: '--mailbox', about: 'Run a mail server and an S3 server for the samples, too.' },
      mailPort,
      { flags: '--s3-port <n>', about: 'Port of the S3 server; default 4568, 0: a free one.' },
      { flags: '--no-engine', about: 'Run no engine.' },
      httpPlace,
      { flags: '--no-http', about: 'Serve no HTTP API.' },
      optionOf('embedded.dir'),
      { ...optionOf('embedded.storage'), values: storageKinds, choices: storageKinds },
      ...engineOptions,
    ],
    stoppable: true,
    serves: true,
    examples: ['tws dev', 'tws dev --mailbox --mail-port 0', 'tws dev --port 0 --no-engine'],
    load: async () => (await import('../commands/dev.js')).dev,
  },
  {
    name: 'new',
    about:
      'Create the files of a project, or of a task, flow, schedule, hook, job or plugin in a project.',
    arguments: [
      { name: '<kind>', about: 'project, task, flow, schedule, hook, job or plugin.' },
      { name: '<name>', about: 'Its name; of a project: the folder to make.' },
    ],
    options: [
      { flags: '--plugin <name>', about: 'Plugin of a new task; default: its name.' },
      {
        flags: '--flow <name>',
        about: 'Flow of a new schedule or hook; default: its name.',
        values: { named: ['flow'] },
      },
      {
        flags: '--ts',
        about: 'A plugin in TypeScript, which Node 22.18 and 23.6 or newer run as it is.',
      },
      {
        flags: '--test',
        about: 'With a test: of a plugin for node --test, of a flow for tws test.',
      },
    ],
    examples: [
      'tws new project orders',
      'tws new plugin hello --test',
      'tws new task greet --plugin hello',
      'tws new flow order --test',
      'tws new schedule nightly --flow hello',
      'tws new hook github --flow hello',
    ],
    load: async () => (await import('../commands/new.js')).newThing,
  },
  {
    name: 'import',
    about: 'Convert workflows of node-workflow to plugins, tasks and flows.',
    arguments: [
      { name: '<from>', about: 'From what: node-workflow.', values: ['node-workflow'] },
      {
        name: '<files...>',
        about:
          'Modules that export workflows, or functions that make them (they are run), or JSON of GET /workflows.',
        values: { named: ['file'] },
      },
    ],
    options: [
      {
        flags: '--into <folder>',
        about: 'Write below this folder; default: the project.',
      },
      {
        flags: '--sandbox <file>',
        about:
          'The configuration of the runners (JSON): its modules and values are given to tasks.',
        values: { named: ['file'] },
      },
      { flags: '--dry-run', about: 'Say what would be written; write nothing.' },
    ],
    examples: [
      'tws import node-workflow workflows.js --dry-run',
      'tws import node-workflow workflows.json --sandbox config.json',
    ],
    load: async () => (await import('../commands/import.js')).importWorkflows,
  },
  {
    name: 'test',
    about:
      'Run test cases of flows (*.test.json) with a clock of their own; no database is needed.',
    arguments: [
      {
        name: '[files...]',
        about: 'Files of test cases, or folders with them; default: test of the project.',
        values: { named: ['file'] },
      },
    ],
    options: [{ flags: '--case <text>', about: 'Only cases whose name holds this text.' }],
    stoppable: true,
    examples: ['tws test', 'tws test test/order.test.json --case refund', 'tws test --json'],
    load: async () => (await import('../commands/test.js')).test,
  },
  {
    name: 'init',
    about: 'Create the database and its design documents; run again it adds only what is missing.',
    options: [
      {
        flags: '--guard',
        about: 'With the guard, which refuses impossible documents; default of a new database.',
      },
      {
        flags: '--no-guard',
        about: 'Without the guard, or remove it: writes are cheaper (see tws doctor --measure).',
      },
      {
        flags: '--copies <n>',
        about: 'In a cluster: copies of each document; default 1, which makes claims certain.',
      },
      {
        flags: '--sensitive',
        about:
          'Also the databases of sensitive values and of their keys, closed to all but admins and the role tws-sensitive.',
      },
    ],
    examples: [
      'tws init',
      'tws init --no-confirm --database orders_tasks',
      'tws init --no-guard',
      'tws init --sensitive',
    ],
    load: async () => (await import('../commands/init.js')).init,
  },
];
