import {
  endedStatuses,
  type EndedStatus,
  type Retain,
  type RetainLimit,
} from '../../model/retain.js';
import { writtenSpanMs } from '../../model/span.js';
import type { RetentionRules } from './rules.js';

/** A part of the jobs that have ended which holds jobs that may have to go. */
export type Scan = {
  readonly statuses: readonly EndedStatus[];
  /** Jobs of this flow, of any owner; absent: of all flows but those in `except`. */
  readonly flow?: string;
  readonly except: ReadonlySet<string>;
  /** Only jobs that began before (epoch ms); absent: all. A job ends after it began. */
  readonly to?: number;
};

/**
 * Returns what has to be looked through at `now` (epoch ms): nothing where no rule names anything. Flows with
 * a rule of their own are looked at by themselves, so no job is in two of the parts.
 */
export function scansFor({ flows, usual = {} }: RetentionRules, now: number): readonly Scan[] {
  const own = new Map<string, readonly Retain[]>();
  for (const [key, rule] of flows) {
    const [flow = ''] = key.split('::');
    if (typeof rule === 'object') own.set(flow, [...(own.get(flow) ?? [usual]), rule]);
  }
  const nothing: ReadonlySet<string> = new Set();
  const ofFlows = [...own].flatMap(([flow, rules]): readonly Scan[] => {
    const statuses = endedStatuses.filter((status) => rules.some((rule) => rule[status]));
    const limits = rules.flatMap((rule) => limitsOf(rule, statuses));
    return statuses.length === 0
      ? []
      : [{ flow, statuses, except: nothing, ...beforeOf(limits, now) }];
  });
  const except: ReadonlySet<string> = new Set(own.keys());
  const others = endedStatuses.flatMap((status): readonly Scan[] => {
    const limits = limitsOf(usual, [status]);
    return limits.length === 0 ? [] : [{ statuses: [status], except, ...beforeOf(limits, now) }];
  });
  return [...ofFlows, ...others];
}

function limitsOf(rule: Retain, statuses: readonly EndedStatus[]): readonly RetainLimit[] {
  return statuses.flatMap((status): readonly RetainLimit[] => {
    const limit = rule[status];
    return limit === undefined ? [] : [limit];
  });
}

/** Where only ages are named, only old jobs have to be looked at. */
function beforeOf(limits: readonly RetainLimit[], now: number): { readonly to?: number } {
  const spans = limits.map(({ age, count }) => (count === undefined ? age : undefined));
  const ages = spans.filter((span) => span !== undefined);
  if (ages.length < spans.length) return {};
  return { to: now - Math.min(...ages.map(writtenSpanMs)) };
}
