/** The one word for people and programs; derived, never stored. */
export const statuses = [
  'queued',
  'scheduled',
  'running',
  'waiting',
  'paused',
  'succeeded',
  'failed',
  'cancelled',
] as const;
export type Status = (typeof statuses)[number];

/** The statuses of jobs that have not ended. */
export const unfinishedStatuses = [
  'queued',
  'scheduled',
  'running',
  'waiting',
  'paused',
] as const satisfies readonly Status[];
