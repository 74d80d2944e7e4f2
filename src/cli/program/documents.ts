import type { CommandDefinition } from '../command.js';
import { flowOption, flowVersionOption, graphFormats, statusOption } from './options.js';

const switched =
  "The flow's id or name (name::owner), the engine's id ('*': all engines), or the worker's (worker:w1).";

/** Definitions: from files into the database, and a look at them. */
export const documents: readonly CommandDefinition[] = [
  {
    name: 'push',
    about:
      'Check tasks, flows, schedules, hooks and jobs in files and store them; with a problem nothing is stored.',
    arguments: [
      {
        name: '[paths...]',
        about: 'Files or folders; ~tws/ is couch/tws of the project, else the samples.',
        values: { named: ['file'] },
      },
    ],
    options: [
      {
        flags: '--map',
        about: 'The design documents, and the tasks, flows, schedules and hooks of ~tws.',
      },
      { flags: '--tasks', about: 'The files of ~tws/tasks.' },
      { flags: '--flows', about: 'The files of ~tws/flows.' },
      { flags: '--schedules', about: 'The files of ~tws/schedules.' },
      { flags: '--hooks', about: 'The files of ~tws/hooks.' },
      { flags: '--jobs', about: 'The files of ~tws/jobs: each is submitted once.' },
      { flags: '--design', about: 'The design documents.' },
      { flags: '--samples', about: 'The tasks and flows that come with tws, such as mailtest.' },
      {
        flags: '--prune',
        about:
          'With --map, --tasks, --flows, --schedules or --hooks: remove, after a confirmation, the stored ones that couch/tws of this project once brought and that no file holds now; with --owner only those of that owner. What other projects, the API or other tools stored stays.',
      },
      {
        flags: '--force',
        about:
          'Store what the files have, also where the database has changed since the last push or pull, and what was removed there; with --prune remove also what has changed.',
      },
      { flags: '--dry-run', about: 'Print what would be stored and removed; write nothing.' },
    ],
    examples: [
      'tws push --map',
      'tws push --map --prune --dry-run',
      'tws push --map --prune --no-confirm',
      'tws push couch/tws/tasks/mail.json',
      'tws push --samples',
    ],
    load: async () => (await import('../commands/push.js')).push,
  },
  {
    name: 'pull',
    about:
      'Write into the files of couch/tws what has changed in the database since the last push or pull, and new definitions into new files.',
    arguments: [
      {
        name: '[paths...]',
        about: 'Files or folders of ~tws; default: all, and what has no file yet.',
        values: { named: ['file'] },
      },
    ],
    options: [
      { flags: '--tasks', about: 'Only tasks.' },
      { flags: '--flows', about: 'Only flows.' },
      { flags: '--schedules', about: 'Only schedules.' },
      { flags: '--hooks', about: 'Only hooks.' },
      {
        flags: '--theirs',
        about: 'Where file and database have changed the same key, take what the database has.',
      },
      { flags: '--ours', about: 'Where both have changed the same key, keep what the file has.' },
      {
        flags: '--prune',
        about:
          'Remove, after a confirmation, files whose documents were removed from the database.',
      },
      { flags: '--dry-run', about: 'Print what would be written; write nothing.' },
    ],
    examples: [
      'tws pull --dry-run',
      'tws pull',
      'tws pull couch/tws/flows/order.json --theirs',
      'tws pull --prune --no-confirm',
    ],
    load: async () => (await import('../commands/pull.js')).pull,
  },
  {
    name: 'validate',
    about: 'Check files as push does, also against the database if it answers, and store nothing.',
    arguments: [
      {
        name: '[paths...]',
        about: 'Files or folders; default ~tws, all of couch/tws.',
        values: { named: ['file'] },
      },
    ],
    examples: ['tws validate', 'tws validate couch/tws/flows/report.json --json'],
    load: async () => (await import('../commands/validate.js')).validate,
  },
  {
    name: 'list',
    about: 'List tasks, flows and the jobs that have not ended, or what the options name.',
    options: [
      { flags: '--tasks', about: 'Tasks: name => plugin (id).' },
      { flags: '--flows', about: 'Flows: name::owner => steps (id).' },
      { flags: '--jobs', about: 'Jobs that have not ended: flow, status, times, failure, id.' },
      { flags: '--active', about: 'Jobs that have not ended, as --jobs alone.' },
      { flags: '--complete', about: 'Jobs that have ended, with or without success.' },
      { flags: '--failed', about: 'Jobs that have ended without success.' },
      { flags: '--cancelled', about: 'Jobs that were cancelled.' },
      { flags: '--all', about: 'All jobs, and deprecated flows, too.' },
      { flags: '--plugins', about: 'Plugins of this project, and why broken ones are broken.' },
      { flags: '--engines', about: 'Engines, and whether they are alive.' },
      { flags: '--views', about: 'Views: name => design document; your own among them.' },
      { flags: '--workers', about: 'Workers in other programs that have sent heartbeats.' },
      flowOption,
      flowVersionOption,
      statusOption,
      { flags: '--failure <name>', about: 'Jobs that failed with this failure.' },
      {
        flags: '--tag <tags>',
        about: 'Jobs that have each of these tags; with --tasks or --flows those that have them.',
      },
      {
        flags: '--since <when>',
        about:
          'Jobs that began since then, or have not begun: 2030-01-31, 2030-01-31T08:00Z, or 30m, 2h, 7d ago.',
      },
      {
        flags: '--sort <key>',
        about:
          'Sort jobs by started (default), ended, took (newest or longest first), flow or status; -took reverses the order.',
        values: async () => (await import('../job-sort.js')).sortKeys,
      },
      { flags: '--limit <n>', about: 'Maximum number of jobs; default 100.' },
      { flags: '--verbose', about: 'Whole documents.' },
    ],
    examples: [
      'tws list',
      'tws list --failed --limit 20',
      'tws list --flow report --status waiting,paused',
      'tws list --flow report --flow-version 2',
      'tws list --since 24h --sort took --status failed',
      'tws list --jobs --all --json',
    ],
    load: async () => (await import('../commands/list.js')).list,
  },
  {
    name: 'plugin',
    about: 'Print what plugins export about themselves, with their parameters, as Markdown.',
    arguments: [
      { name: '<action>', about: 'What to do: docs.', values: ['docs'] },
      { name: '[names...]', about: 'Names of plugins; default: all of the project.' },
    ],
    options: [{ flags: '--shipped', about: 'Also the plugins that come with tws.' }],
    examples: [
      'tws plugin docs > PLUGINS.md',
      'tws plugin docs http-request',
      'tws plugin docs --json',
    ],
    load: async () => (await import('../commands/plugin.js')).plugin,
  },
  {
    name: 'view',
    about: 'Print one document; where a name may mean several, list them.',
    arguments: [
      {
        name: '<id>',
        about:
          'Its id, or the name (name::owner) of a task, a flow, its job, a schedule or a hook.',
        values: { named: ['task', 'flow', 'schedule', 'hook', 'job'] },
      },
    ],
    options: [
      { flags: '--task', about: 'Look for a task only.' },
      { flags: '--flow', about: 'Look for a flow only.' },
      { flags: '--schedule', about: 'Look for a schedule only.' },
      { flags: '--hook', about: 'Look for a hook only.' },
      { flags: '--job', about: 'Look for a job of the flow of that name.' },
      {
        flags: '--result <step>',
        about:
          'Print the result of a step of the job (its name, <task>-<n> or path), large ones too.',
      },
    ],
    examples: [
      'tws view flow:DEFAULT:mailtest',
      'tws view mailtest',
      'tws view mailtest --job',
      'tws view job-1 --result extract',
    ],
    load: async () => (await import('../commands/view.js')).view,
  },
  {
    name: 'graph',
    about: 'Draw a flow, or a job with the states of its steps: as Mermaid, SVG or JSON.',
    arguments: [
      {
        name: '<what>',
        about: 'Id or name of a flow, id of a job, or a file that holds one.',
        values: { named: ['flow', 'job', 'file'] },
      },
    ],
    options: [
      {
        flags: '--format <format>',
        about: 'As mermaid, svg or json; default: what the name of --out says, else mermaid.',
        values: graphFormats,
      },
      { flags: '--out <file>', about: 'Write it to this file.', values: { named: ['file'] } },
    ],
    examples: [
      'tws graph mailtest',
      'tws graph mailtest --out mailtest.svg',
      'tws graph couch/tws/flows/hello.json --format svg',
      'tws graph job-1 --out job-1.svg',
    ],
    load: async () => (await import('../commands/graph.js')).graph,
  },
  {
    name: 'enable',
    about: 'Let jobs for a flow run again, or an engine or a worker take work again.',
    arguments: [{ name: '<flow>', about: switched, values: { named: ['flow', 'engine'] } }],
    examples: ['tws enable report', 'tws enable engine:box-1'],
    load: async () => (await import('../commands/enable.js')).enable,
  },
  {
    name: 'disable',
    about:
      'Let new jobs for a flow fail at once, or an engine or a worker take no new work; what has begun goes on.',
    arguments: [{ name: '<flow>', about: switched, values: { named: ['flow', 'engine'] } }],
    options: [
      {
        flags: '--terminate',
        about: 'Tells a worker, with its next heartbeat, to finish the jobs that it has and end.',
      },
    ],
    examples: [
      'tws disable report::me',
      'tws disable engine:box-1',
      "tws disable '*'",
      'tws disable worker:w1 --terminate',
    ],
    load: async () => (await import('../commands/enable.js')).disable,
  },
  {
    name: 'remove',
    about: 'Delete documents from the database after a confirmation; files stay.',
    arguments: [
      {
        name: '<ids...>',
        about: 'Ids of tasks, flows, schedules, hooks and jobs.',
        values: { named: ['job'] },
      },
    ],
    options: [{ flags: '--force', about: 'Delete also jobs that have not ended.' }],
    examples: ['tws remove task:DEFAULT:old', 'tws remove job-1 job-2 --no-confirm'],
    load: async () => (await import('../commands/remove.js')).remove,
  },
];
