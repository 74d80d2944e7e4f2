import { toldOccasions } from '../../model/occasions.js';
import type { CommandDefinition } from '../command.js';

/** Versions of flows, queues, limits, triggers and notifications. */
export const queues: readonly CommandDefinition[] = [
  {
    name: 'flow',
    about: 'List the versions of a flow, compare them, and make one current.',
    arguments: [
      {
        name: '<action>',
        about: 'What to do: versions, diff, use or rollback.',
        values: ['versions', 'diff', 'use', 'rollback'],
      },
      { name: '<name>', about: 'Name of the flow (name::owner).', values: { named: ['flow'] } },
      {
        name: '[versions...]',
        about:
          'With use one version, with diff two, or one to compare with the current one; or the id of a document.',
      },
    ],
    options: [
      {
        flags: '--by <name>',
        about: 'With use and rollback: who makes it current, for the record.',
      },
    ],
    examples: [
      'tws flow versions order',
      'tws flow diff order 1 2',
      'tws flow use order 2',
      'tws flow rollback order',
    ],
    load: async () => (await import('../commands/flow.js')).flow,
  },
  {
    name: 'queue',
    about: 'List, pause and resume queues.',
    arguments: [
      {
        name: '<action>',
        about: 'What to do: list, pause or resume.',
        values: ['list', 'pause', 'resume'],
      },
      { name: '[queues...]', about: 'With pause and resume: names of queues.' },
    ],
    options: [{ flags: '--reason <text>', about: 'With pause: why, for people.' }],
    examples: [
      'tws queue list',
      'tws queue pause mail --reason "the server moves"',
      'tws queue resume mail',
    ],
    load: async () => (await import('../commands/queue.js')).queue,
  },
  {
    name: 'cache',
    about: 'List the results that are kept for tasks with `cache`, or remove them.',
    arguments: [
      { name: '<action>', about: 'What to do: list or clear.', values: ['list', 'clear'] },
      { name: '[task]', about: 'Only those of this task.', values: { named: ['task'] } },
    ],
    examples: ['tws cache list', 'tws cache clear geocode'],
    load: async () => (await import('../commands/cache.js')).cache,
  },
  {
    name: 'limit',
    about:
      'List the limits that jobs hold or wait for (`max_running`, `concurrency`, rates), and who is in line.',
    arguments: [
      { name: '<action>', about: 'What to do: list or show.', values: ['list', 'show'] },
      {
        name: '[name]',
        about: 'With show: name of a limit, a flow, a task or a queue.',
        values: { named: ['flow', 'task'] },
      },
    ],
    options: [
      {
        flags: '--limit <n>',
        about: 'At most this many, with show this many jobs of each kind; default 100.',
      },
    ],
    examples: ['tws limit list', 'tws limit list --owner me --json', 'tws limit show import'],
    load: async () => (await import('../commands/limit.js')).limit,
  },
  {
    name: 'trigger',
    about: 'List the events that wait for a job of a trigger with `debounce` or `batch`.',
    arguments: [
      { name: '<action>', about: 'What to do: gatherings.', values: ['gatherings'] },
      { name: '[flow]', about: 'Only for jobs of this flow.', values: { named: ['flow'] } },
    ],
    options: [{ flags: '--limit <n>', about: 'At most this many; default 100.' }],
    examples: ['tws trigger gatherings', 'tws trigger gatherings index --json'],
    load: async () => (await import('../commands/trigger.js')).trigger,
  },
  {
    name: 'notify',
    about: 'List who is notified of jobs, and send test messages.',
    arguments: [{ name: '<action>', about: 'What to do: list or test.', values: ['list', 'test'] }],
    options: [
      { flags: '--flow <name>', about: 'Also by this flow.', values: { named: ['flow'] } },
      {
        flags: '--event <event>',
        about: 'With test: what is told; default: failed.',
        choices: toldOccasions,
      },
    ],
    examples: ['tws notify list --flow report', 'tws notify test --flow report --event late'],
    load: async () => (await import('../commands/notify.js')).notify,
  },
];
