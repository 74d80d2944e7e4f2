import type { OverlapPolicy } from '../../../model/schedule.js';
import { optionsOf, rankAndTags } from '../options.js';
import { entryOfOrder, metaOf, type Target } from '../order.js';
import type { OjsOrder } from '../schemas.js';
import type { CronOrder } from './schemas.js';

/*
 * A cron job is a schedule and, unless its type is that of a flow, the flow that the schedule runs: the
 * entry for the job of its template. Both are documents like any other.
 */

/** Their words for what happens while a job of the schedule runs, and ours. */
export const overlaps = {
  skip: 'skip',
  allow: 'all',
  enqueue: 'one',
  cancel_previous: 'cancel_running',
} as const satisfies Record<NonNullable<CronOrder['overlap_policy']>, OverlapPolicy>;

export type CronFacts = {
  readonly owner: string;
  readonly target: Target;
  /** Epoch ms. */
  readonly now: number;
};

/** The job of each slot as it is ordered. */
export function templateOf(order: CronOrder): OjsOrder {
  const { job_template: template, type = '', args = [], meta, options } = order;
  if (template != null) return template;
  return { type, args, ...(meta == null ? {} : { meta }), ...(options == null ? {} : { options }) };
}

/** The documents of a cron job. @throws TwsError `ojs_unsupported`, `request_invalid` */
export function documentsOfCron(
  order: CronOrder,
  { owner, target, now }: CronFacts,
): readonly (Record<string, unknown> & { readonly _id: string })[] {
  const { name } = order;
  const template = templateOf(order);
  const { type, args } = template;
  const options = optionsOf(template);
  const { queue, retry } = options;
  const meta = { ...metaOf(template), 'ojs.cron_name': name };
  const kept = { type, args, meta, ...given({ queue, retry }) };
  const entry = entryOfOrder(withoutPriority(template), target, undefined);
  const isFlow = target.kind === 'flow';
  const flow = isFlow ? type : cronFlowName(name);
  const overlap = order.overlap_policy ?? 'skip';
  const schedule = {
    ...{ _id: `schedule:${owner}:${name}`, type: 'schedule', name, owner, flow },
    ...{ cron: order.expression ?? order.cron ?? '', overlap: overlaps[overlap] },
    ...given({ time_zone: order.timezone, description: order.description }),
    ...(order.enabled === false ? { paused: true } : {}),
    ...(isFlow ? given({ params: entry['params'], queue }) : {}),
    // What each job gets from the schedule.
    ...rankAndTags(options),
    ojs: { ...kept, created_at: now, overlap_policy: overlap },
  };
  if (isFlow) return [schedule];
  const ofCron = { _id: `flow:${owner}:${flow}`, type: 'flow', name: flow, owner, timeout: 0 };
  return [{ ...ofCron, tasks: [entry], ojs: { ...kept, created_at: now } }, schedule];
}

/** The fields that have a value. */
function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
}

/** The flow that was made for a cron job. */
export function cronFlowName(name: string): string {
  return `ojs-cron:${name}`;
}

/** The priority is that of the jobs, which the schedule says. */
function withoutPriority({ options, ...order }: OjsOrder): OjsOrder {
  return { ...order, priority: null, options: options && { ...options, priority: null } };
}
