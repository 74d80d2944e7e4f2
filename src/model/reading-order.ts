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
  const ordered: Record<string, unknown> = {};
  // A loop over each: there may be very many keys, and lists of pairs take twice as long.
  for (const key of first) if (Object.hasOwn(job, key)) ordered[key] = job[key];
  for (const key of Object.keys(job)) {
    if (key === '__proto__') defineOwn(ordered, key, job[key]);
    else if (!placed.has(key)) ordered[key] = job[key];
  }
  for (const key of last) if (Object.hasOwn(job, key)) ordered[key] = job[key];
  return ordered as T;
}

/** An assignment would set the prototype. */
function defineOwn(record: object, key: string, value: unknown): void {
  const how = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(record, key, { ...how, value });
}
