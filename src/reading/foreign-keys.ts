/** Where a key stands: at the top of a document, in a node of a flow, in `retry`, in `map`. */
export type KeyPlace =
  | 'task'
  | 'flow'
  | 'job'
  | 'schedule'
  | 'hook'
  | 'queue-control'
  | 'notify'
  | 'node'
  | 'retry'
  | 'map';

type Row = {
  readonly in: readonly KeyPlace[];
  readonly keys: readonly string[];
  /** The rest of a sentence after "nothing reads it here:". */
  readonly instead: string;
};

const steps = ['task', 'flow', 'node'] as const;
const documents = ['task', 'flow', 'job'] as const;
const all = ['task', 'flow', 'job', 'node'] as const;

const ofTasks = 'it belongs in a task document';
const ofJobs = 'it belongs in a job';
const ofFlows = 'it belongs in a flow';
const ofRetain = '"retain" of a flow says how long its jobs stay after their end';

/** Keys that other engines have, in the words in which they have them. */
const foreign: readonly Row[] = [
  {
    in: ['schedule'],
    keys: ['schedule', 'expression', 'crontab', 'pattern', 'schedule_expression'],
    instead: 'the cron expression of a schedule is "cron"',
  },
  {
    in: ['schedule'],
    keys: ['interval', 'repeat', 'rate'],
    instead: 'the time from slot to slot is "every"',
  },
  {
    in: ['schedule'],
    keys: ['starting_deadline_seconds', 'misfire_grace_time', 'catchup_window'],
    instead: 'how old a missed slot may be to be made up is "catch_up"',
  },
  {
    in: ['schedule'],
    keys: ['concurrency_policy', 'overlap_policy', 'max_active_runs', 'coalesce'],
    instead: 'what happens to a slot while a job of it runs is "overlap"',
  },
  {
    in: ['schedule'],
    keys: ['enabled', 'suspend', 'disabled', 'is_paused'],
    instead: '"paused": true stops a schedule',
  },
  {
    in: ['hook'],
    keys: ['url', 'path', 'endpoint', 'route'],
    instead: 'the address of a hook is POST /_tws/hooks/NAME',
  },
  {
    in: ['hook'],
    keys: ['auth', 'token', 'hmac', 'standard_webhooks', 'signature', 'secret'],
    instead: 'how senders prove themselves is said in "check"',
  },
  {
    in: ['hook'],
    keys: ['filter', 'when', 'if', 'condition'],
    instead: 'which deliveries start a job says "match"',
  },
  { in: ['hook'], keys: ['paused', 'disabled'], instead: '"enabled": false turns a hook off' },
  {
    in: documents,
    keys: ['catch'],
    instead: '"catch" stands in a node of a flow; "error" of a task or a flow handles its failure',
  },
  {
    in: all,
    keys: ['on_error', 'rescue', 'except', 'error_handler'],
    instead: 'what handles a failure is named by "error" of a task, an entry or a flow',
  },
  {
    in: steps,
    keys: ['finally', 'ensure'],
    instead: '"on_complete" of a "batch" runs however the others end',
  },
  {
    in: all,
    keys: ['rate_limit', 'throttle', 'debounce'],
    instead: '"rate" of a task, a flow or a queue limits how many begin in a time',
  },
  { in: ['node', 'job'], keys: ['rate'], instead: '"rate" belongs to a task, a flow or a queue' },
  {
    in: ['flow', 'job', 'node'],
    keys: ['cache'],
    instead: '"cache" belongs to a task',
  },
  {
    in: all,
    keys: ['cache_key', 'cache_ttl', 'cached', 'memoize'],
    instead: 'write "cache": {"key": …, "ttl": …} of a task',
  },
  {
    in: all,
    keys: ['cron', 'schedules', 'interval', 'every', 'cron_expression'],
    instead:
      'a document of the type "schedule" starts jobs by the clock; "exec_after" delays one job',
  },
  {
    in: all,
    keys: ['triggers', 'trigger', 'events', 'on_event'],
    instead: '"on" of a flow names the events that start jobs of it, a "schedule" the times',
  },
  {
    // In a job it tells which schedule started it.
    in: steps,
    keys: ['schedule'],
    instead: 'a document of the type "schedule" starts jobs by the clock',
  },
  {
    in: ['job'],
    keys: ['concurrency'],
    instead: '"concurrency" of its flow says how many jobs run at once',
  },
  {
    in: ['node'],
    keys: ['concurrency'],
    instead:
      '"concurrency" of its task says how many attempts run at once, "limit" in "map" how many items',
  },
  {
    in: ['flow', 'job'],
    keys: ['max_concurrency', 'concurrency_limit', 'parallelism'],
    instead: '"max_running" or "concurrency" of a flow says how many of its jobs run at once',
  },
  {
    in: ['task', 'node'],
    keys: ['max_concurrency', 'concurrency_limit', 'parallelism'],
    instead:
      '"slots" of a task says how many of its attempts an engine runs at once, "concurrency" how many all engines run, "limit" in "map" how many items',
  },
  {
    in: ['map'],
    keys: ['concurrency', 'max_concurrency', 'concurrency_limit', 'parallelism'],
    instead: '"limit" says how many items run at once',
  },
  { in: ['map'], keys: ['items', 'items_path', 'list'], instead: '"over" gives the list' },
  {
    in: steps,
    keys: ['retries', 'max_retries', 'max_attempts', 'attempts', 'backoff', 'retry_policy'],
    instead: 'write "retry": {"limit": …, "delay": …, "factor": …}',
  },
  {
    in: ['job'],
    keys: ['retries', 'max_retries', 'max_attempts', 'attempts', 'backoff', 'retry_policy'],
    instead: '"retry" of the task, the entry or the flow says how often',
  },
  {
    in: all,
    keys: ['depends_on', 'needs', 'dependencies', 'requires', 'upstream'],
    instead: 'nodes of a "graph" name in "after" what must end before them',
  },
  {
    in: steps,
    keys: ['if', 'condition', 'unless', 'run_if', 'skip_if'],
    instead: '"when" of an entry is its condition',
  },
  {
    in: ['node'],
    keys: ['foreach', 'for_each', 'with_items', 'repeat'],
    instead: 'write {"map": {"over": …, "do": …}} or {"loop": {"while": …, "max": …, "do": …}}',
  },
  {
    in: all,
    keys: ['input', 'inputs', 'args', 'arguments', 'parameters'],
    instead: 'parameters stand in "params"',
  },
  {
    in: all,
    keys: ['env', 'environment', 'secrets'],
    instead: 'parameters stand in "params", secrets too, encrypted by `tws encrypt`',
  },
  {
    in: ['flow', 'job'],
    keys: ['webhook', 'webhooks', 'callback', 'callback_url', 'on_complete', 'on_success'],
    instead: '"notify" says who is told when a job has ended',
  },
  {
    in: ['flow', 'job'],
    keys: ['on_failure'],
    instead: '"error" of a flow handles its failure, "notify" tells of it',
  },
  {
    in: ['job'],
    keys: ['delay', 'run_at', 'start_at', 'scheduled_at', 'not_before', 'eta', 'run_after'],
    instead: '"exec_after" is the time before which a job does not begin',
  },
  {
    in: ['job'],
    keys: ['ttl', 'deadline', 'expires_at', 'expire_in'],
    instead: '"expires" is the time after which a job does not begin any more',
  },
  {
    in: ['job'],
    keys: ['mutex', 'concurrency_key'],
    instead:
      '"target" has one job at a time work on something, and an "_id" of your own has it submitted once',
  },
  {
    in: ['flow', 'job'],
    keys: ['singleton', 'dedupe', 'deduplication', 'unique_key'],
    instead: '"unique" lets one job with the same key count at a time',
  },
  { in: ['task', 'job'], keys: ['retain'], instead: ofRetain },
  { in: documents, keys: ['retention', 'remove_on_complete', 'remove_on_fail'], instead: ofRetain },
  {
    in: ['retry'],
    keys: ['attempts', 'max_attempts', 'maximum_attempts', 'retries', 'max_retries', 'count'],
    instead: '"limit" is the number of retries after the first attempt',
  },
  {
    in: ['retry'],
    keys: ['backoff', 'multiplier', 'backoff_rate', 'backoff_coefficient', 'exponential'],
    instead: '"factor" is that by which each wait is longer than the one before',
  },
  {
    in: ['retry'],
    keys: ['interval', 'initial_interval', 'interval_seconds', 'wait', 'retry_delay'],
    instead: '"delay" is the wait before the first retry, in milliseconds',
  },
  {
    in: ['retry'],
    keys: ['max_interval', 'maximum_interval', 'max_delay', 'max_backoff'],
    instead: '"max" is the longest wait, in milliseconds',
  },
  {
    in: ['retry'],
    keys: ['non_retryable', 'non_retryable_errors', 'non_retryable_error_types', 'abort_on'],
    instead: '"never" lists the failures after which nothing is tried again',
  },
  {
    in: ['retry'],
    keys: ['retry_on', 'errors', 'error_equals'],
    instead: '"on" lists the failures after which it is tried again',
  },
];

/** Keys that TWS reads in another place. */
const misplaced: readonly Row[] = [
  {
    in: steps,
    keys: ['retry_delay'],
    instead: 'write "retry": {"limit": …, "delay": …}; "retry_delay" belongs in a job',
  },
  {
    in: ['flow', 'job', 'node'],
    keys: ['labels', 'slots', 'accept_timeout', 'total_timeout', 'sealed', 'plugin'],
    instead: ofTasks,
  },
  {
    in: ['flow', 'job'],
    keys: ['heartbeat', 'undo', 'optional'],
    instead: `${ofTasks}, or in an entry of a flow`,
  },
  {
    in: ['task', 'flow', 'job'],
    keys: ['when', 'guards', 'stdio'],
    instead: 'it belongs in an entry of a flow',
  },
  { in: steps, keys: ['exec_after', 'expires', 'priority', 'target', 'locks'], instead: ofJobs },
  { in: ['task', 'node'], keys: ['queue', 'notify'], instead: 'it belongs in a flow or a job' },
  {
    in: ['task', 'job', 'node'],
    keys: ['max_running', 'timeout_mode', 'restarts', 'error_result', 'errors', 'enabled'],
    instead: ofFlows,
  },
  {
    in: ['job'],
    keys: ['timeout', 'retry', 'error', 'output', 'schema'],
    instead: `${ofFlows}; a job with "tasks" has none of its own`,
  },
];

const byPlace = new Map<KeyPlace, ReadonlyMap<string, string>>();
for (const place of [
  ...all,
  'schedule',
  'hook',
  'queue-control',
  'notify',
  'retry',
  'map',
] as const) {
  const rows = [...foreign, ...misplaced].filter((row) => row.in.includes(place));
  const pairs = rows.flatMap(({ keys, instead }) =>
    keys.map((key): [string, string] => [plain(key), instead]),
  );
  byPlace.set(place, new Map(pairs));
}

/** `maxAttempts`, `max-attempts` and `max_attempts` are one word. */
function plain(key: string): string {
  return key.toLowerCase().replace(/[^a-z]/g, '');
}

/**
 * What to do instead of writing a key that looks like a feature and that nothing reads there: the rest
 * of a sentence. Undefined: it is no such key.
 */
export function insteadOf(key: string, place: KeyPlace): string | undefined {
  return byPlace.get(place)?.get(plain(key));
}
