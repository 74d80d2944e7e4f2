import type { Hook } from '../../model/hook.js';
import { isObject } from '../../model/object.js';
import { defaultOwner } from '../../model/task.js';
import { mayHoldTemplate } from '../../model/template.js';
import type { StartCause } from '../../model/trigger.js';
import { parseDocument } from '../../reading/parse.js';
import type { Answer } from '../world.js';

/** What a sender has delivered to a hook, after it has proved itself. */
export type Delivery = {
  /** What names it: the value of the header that the hook says, else a text like no other. */
  readonly name: string;
  readonly body: unknown;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
};

/** A JSONata expression of a hook, with the data that it is evaluated over. */
export type HookQuestion = {
  readonly id: 'match' | 'params';
  readonly expression: string;
  readonly context: Readonly<Record<string, unknown>>;
};

/** The job that a delivery starts, as it is submitted. */
export type HookJob = {
  readonly _id: string;
  readonly type: 'job';
  readonly flow: string;
  readonly owner: string;
  readonly started_by: Extract<StartCause, { readonly hook: string }> & {
    readonly texts?: readonly string[];
  };
  readonly [key: string]: unknown;
};

/** What comes of a delivery. */
export type DeliveryVerdict =
  | { readonly kind: 'evaluate'; readonly question: HookQuestion }
  /** `match` does not hold: it starts nothing. */
  | { readonly kind: 'ignore' }
  | { readonly kind: 'start'; readonly job: HookJob }
  /** The hook cannot be followed: the job ends at once and says why. */
  | { readonly kind: 'refuse'; readonly job: HookJob; readonly reason: string };

export type DeliveryWorld = {
  readonly answer: (question: HookQuestion['id']) => Answer | undefined;
  /** A text of few characters that stands for a longer one. */
  readonly hash: (text: string) => string;
};

/**
 * Says what a delivery to a hook starts: a pure function of the hook, the delivery and what was evaluated.
 *
 * T25 The id of the job follows from the hook's name and owner, and what names the delivery: however often
 *     it is delivered, and to however many servers, its job exists once.
 * T26 A hook that cannot be followed for a delivery is told by a job that ends with exit 3 and the reason.
 *     It has another id, so that the same delivery starts its job once the hook is corrected.
 * T27 What a sender writes is never read as a template: such texts are in `started_by.texts`, and the
 *     parameters refer to them.
 */
export function decideDelivery(
  hook: Hook,
  delivery: Delivery,
  world: DeliveryWorld,
): DeliveryVerdict {
  const { match, params } = hook;
  const { body, headers, query } = delivery;
  const context = { body, headers, query };
  const refuse = (reason: string): DeliveryVerdict => ({
    kind: 'refuse',
    job: jobOf(hook, delivery, world, { problem: reason }),
    reason,
  });
  if (match !== undefined) {
    const answer = world.answer('match');
    if (answer === undefined) return ask('match', match, context);
    if (!answer.ok) return refuse(`match cannot be evaluated: ${answer.reason}`);
    const { value } = answer;
    if (value === false || value === undefined || value === null) return { kind: 'ignore' };
    if (value !== true) return refuse('match gives neither true nor false.');
  }
  if (params === undefined) return { kind: 'start', job: jobOf(hook, delivery, world) };
  const answer = world.answer('params');
  if (answer === undefined) return ask('params', params, context);
  if (!answer.ok) return refuse(`params cannot be evaluated: ${answer.reason}`);
  if (!isObject(answer.value)) return refuse('params gives no object of parameters.');
  const job = jobOf(hook, delivery, world, { params: answer.value });
  const unfit = unfitIn(job);
  return unfit === undefined ? { kind: 'start', job } : refuse(unfit);
}

/** Why no engine would take the job: its parameters are too large, for example. */
function unfitIn(job: HookJob): string | undefined {
  const parsed = parseDocument({ ...job, _rev: '0-0' });
  return parsed.kind === 'job' && !parsed.ok ? parsed.problems[0].message : undefined;
}

function ask(
  id: HookQuestion['id'],
  expression: string,
  context: HookQuestion['context'],
): DeliveryVerdict {
  return { kind: 'evaluate', question: { id, expression, context } };
}

type Given = { readonly params?: Readonly<Record<string, unknown>>; readonly problem?: string };

function jobOf(
  hook: Hook,
  { name }: Delivery,
  { hash }: DeliveryWorld,
  { params, problem }: Given = {},
): HookJob {
  const { flow, owner = defaultOwner } = hook;
  const texts: string[] = [];
  const own = params === undefined ? {} : { params: withoutTemplates(params, texts) };
  const named = [hook.name, owner, name, ...(problem === undefined ? [] : ['refused'])];
  return {
    _id: `hook-run:${hook.name}:${owner}:${hash(JSON.stringify(named))}`,
    ...{ type: 'job', flow, owner },
    ...own,
    ...handedDown(hook),
    started_by: {
      ...{ hook: hook._id, delivery: name },
      ...(texts.length > 0 && { texts }),
      ...(problem !== undefined && { problem }),
    },
  };
}

/** What each job of a hook gets unchanged, beside its parameters. */
function handedDown(hook: Hook): Readonly<Record<string, unknown>> {
  const given = (['flow_version', 'priority', 'queue', 'tags', 'keys'] as const).filter(
    (key) => hook[key] !== undefined,
  );
  return Object.fromEntries(given.map((key) => [key, hook[key]]));
}

/** The same value with a template in the place of each text that would be read as one, which leads to it. */
function withoutTemplates(value: unknown, texts: string[]): unknown {
  if (typeof value === 'string') {
    if (!mayHoldTemplate(value)) return value;
    texts.push(value);
    return `{{job.started_by.texts.${texts.length - 1}}}`;
  }
  if (Array.isArray(value)) return value.map((item) => withoutTemplates(item, texts));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutTemplates(item, texts)]),
  );
}
