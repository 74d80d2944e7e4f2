/**
 * Exit statuses: what one means for a command, and for a job whose exit a command passes on
 * (`submit --wait`, `watch JOB`). `tws --help` and the reference of errors show this table; every
 * problem has one of these statuses.
 */
export const exitStatuses = {
  0: { command: 'done', job: 'succeeded' },
  1: { command: 'failed', job: 'timed out' },
  2: { command: 'wrong usage', job: 'a task failed' },
  3: { command: 'invalid documents', job: 'a definition or parameter problem' },
  4: { command: 'not found', job: 'its steps lost too many engines' },
  5: { job: 'expired or refused' },
  66: { command: 'there is nothing to convert' },
  69: { command: 'the database is not reachable' },
  70: { command: 'an engine had to stop' },
  73: { command: 'the name of the engine is taken' },
  77: { command: 'not allowed' },
  78: { command: 'a setting is wrong' },
  124: { command: 'the time of --timeout is over' },
  130: { command: 'interrupted', job: 'cancelled' },
} as const satisfies Readonly<Record<number, { readonly command?: string; readonly job?: string }>>;

export type ExitStatus = keyof typeof exitStatuses;
