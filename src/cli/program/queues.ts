import type { CommandDefinition } from '../command.js';

/** Queues. */
export const queues: readonly CommandDefinition[] = [
  {
    name: 'queue',
    about: 'List queues, pause them, and let them go on.',
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
];
