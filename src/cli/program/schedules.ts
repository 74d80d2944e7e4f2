import type { CommandDefinition } from '../command.js';

/** Schedules. */
export const schedules: readonly CommandDefinition[] = [
  {
    name: 'schedule',
    about: 'List and show schedules, pause and resume them, run one now, or backfill a period.',
    arguments: [
      {
        name: '<action>',
        about: 'What to do: list, show, next, pause, resume, run or backfill.',
        values: ['list', 'show', 'next', 'pause', 'resume', 'run', 'backfill'],
      },
      {
        name: '[names...]',
        about: 'Ids or names (name::owner) of schedules; pause and resume take several.',
        values: { named: ['schedule'] },
      },
    ],
    options: [
      { flags: '--count <n>', about: 'With next: how many slots; default 10.' },
      { flags: '--wait', about: 'With run: as with submit, wait for the end of the job.' },
      {
        flags: '--timeout <duration>',
        about:
          'With run --wait: wait at most so long (5s, 500ms, 2m; a number: seconds; exit 124).',
      },
      {
        flags: '--from <when>',
        about:
          'With backfill: the first slot, as 2030-01-31, 2030-01-31T08:00Z, or 7d: seven days ago.',
      },
      {
        flags: '--until <when>',
        about: 'With backfill: the end, itself left out; default: now.',
      },
      {
        flags: '--at-once <n>',
        about: 'With backfill: how many of its jobs run at once; default 3.',
      },
      { flags: '--cancel', about: 'With backfill: cancel it; jobs that have begun go on.' },
      { flags: '--by <name>', about: 'With run and backfill: who asks; the jobs name them.' },
    ],
    stoppable: true,
    examples: [
      'tws schedule list',
      'tws schedule show nightly',
      'tws schedule next nightly --count 3',
      'tws schedule pause nightly hourly::me',
      'tws schedule run nightly --wait',
      'tws schedule backfill nightly --from 2030-01-01 --until 2030-02-01 --at-once 2',
      'tws schedule backfill nightly --cancel',
    ],
    load: async () => (await import('../commands/schedule.js')).schedule,
  },
];
