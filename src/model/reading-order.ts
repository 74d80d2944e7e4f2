/** What a person looks for first, and what comes last; between them the user's own keys, as written. */
const first = [
  '_id',
  '_rev',
  'type',
  'flow',
  'owner',
  'state',
  'exit',
  'failure',
  'result',
  'start',
  'end',
  'next_due',
] as const;
const last = [
  'params',
  'steps',
  'signals',
  'requests',
  'problems',
  'locked',
  'run',
  'first_run',
  'refreshed',
  'restarts',
  'resume_at',
  'held_since',
  'held_ms',
  'also_started',
  'tasks',
  'flow_rev',
  'flow_version',
  'retry_delay',
  'flow_definition',
  'definitions',
  '_attachments',
] as const;

const placed = new Set<string>([...first, ...last]);

/** The same job document with its keys in the order in which people read it. */
export function inReadingOrder<T extends Readonly<Record<string, unknown>>>(job: T): T {
  const others = Object.keys(job).filter((key) => !placed.has(key));
  const keys = [...first, ...others, ...last].filter((key) => Object.hasOwn(job, key));
  return Object.fromEntries(keys.map((key) => [key, job[key]])) as T;
}
