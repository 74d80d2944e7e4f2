import { problem } from '../../../errors.js';
import { toProblems } from '../../../model/problems.js';
import { Refused } from '../../answers/problems.js';
import { mergedOptions } from '../options.js';
import { entryOfOrder, metaOf, type Target } from '../order.js';
import { mostStepIds, stepId } from './ids.js';
import {
  callbackNames,
  workflowStepSchema,
  type WorkflowNode,
  type WorkflowOrder,
  type WorkflowStep,
} from './schemas.js';

/*
 * A workflow of the Open Job Spec becomes one job: a chain a sequence, a group a parallel that waits for
 * all, a batch a batch whose failures are told by its callbacks alone, and steps with dependencies a graph.
 */

/** What of a step is kept beside the structure: its arguments are no parameters, no template is filled in. */
type KeptStep = {
  readonly type: string;
  readonly args: readonly unknown[];
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
};

export type WorkflowFacts = {
  readonly id: string;
  readonly owner: string;
  /** Epoch ms. */
  readonly now: number;
  readonly targetOf: (type: string) => Target;
};

/** The types of all jobs in a workflow. @throws Refused */
export function typesIn(order: WorkflowOrder): readonly string[] {
  const types = new Set<string>();
  eachStep(order, '', ({ type }) => types.add(type));
  return [...types];
}

/** The job document of a workflow. @throws Refused, TwsError `request_invalid`, `ojs_unsupported` */
export function jobOfWorkflow(order: WorkflowOrder, facts: WorkflowFacts): Record<string, unknown> {
  const { id, owner, now, targetOf } = facts;
  const steps: Record<string, KeptStep> = {};
  const leaf = (step: WorkflowStep): Record<string, unknown> => {
    const number = Object.keys(steps).length + 1;
    if (number > mostStepIds) invalid('', `it must not have more than ${mostStepIds} steps.`);
    const own = stepId(id, number);
    const said = { ...step.options, ...mergedOptions(step) };
    const whole = { ...step, options: { ...defaultsOf(order), ...said } };
    const { type, args, options } = whole;
    const meta = metaOf(whole);
    const { tags, retry } = options;
    steps[own] = {
      ...{ type, args },
      ...(Object.keys(meta).length === 0 ? {} : { meta }),
      ...(tags == null ? {} : { tags }),
      ...(retry == null ? {} : { retry }),
    };
    return entryOfOrder({ ...whole, id: null }, targetOf(type), own);
  };
  const { type = 'graph', name } = order;
  const tasks = nodeOf(order, '', leaf);
  return {
    ...{ _id: id, type: 'job', owner, tasks: [tasks] },
    ojs: {
      ...{ type: `workflow.${type}`, args: [], created_at: now, steps },
      workflow: { type, ...(name == null ? {} : { name }) },
    },
  };
}

function defaultsOf({ options }: WorkflowOrder): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value != null));
}

type Leaf = (step: WorkflowStep) => Record<string, unknown>;

function nodeOf(node: WorkflowNode, at: string, leaf: Leaf): Record<string, unknown> {
  const { steps, jobs, callbacks } = node;
  const many = (list: readonly WorkflowNode[], key: string): readonly object[] =>
    list.map((one, i) => nodeOf(one, `${at}${key}[${i}].`, leaf));
  const called = nameOf(node);
  switch (kindOfNode(node, at)) {
    case 'job':
      return leaf(stepOf(node, at));
    case 'chain':
      return { sequence: many(steps ?? [], 'steps'), ...called };
    case 'group':
      return { parallel: many(jobs ?? [], 'jobs'), on_fail: 'wait', ...called };
    case 'graph':
      return { graph: graphOf(steps ?? [], at, leaf), ...called };
    case 'batch': {
      const batch = many(jobs ?? [], 'jobs');
      const calls = callbackNames.flatMap((name) => {
        const one = callbacks?.[name];
        return one === undefined
          ? []
          : [[name, nodeOf(one, `${at}callbacks.${name}.`, leaf)] as const];
      });
      if (calls.length === 0) invalid(`${at}callbacks`, 'must have at least one callback');
      // A batch has failed when a callback has: what its jobs came to is for these.
      return {
        ...{ batch, on_fail: 'ignore' },
        ...{ ...Object.fromEntries(calls), ...called },
      };
    }
  }
}

function nameOf({ name }: WorkflowNode): { readonly name?: string } {
  return name == null || name === '' ? {} : { name };
}

type Kind = 'job' | 'chain' | 'group' | 'batch' | 'graph';

/** What a node is, by what it has: a job may be of type "chain". */
function kindOfNode({ type, steps, jobs, callbacks }: WorkflowNode, at: string): Kind {
  if (steps !== undefined && jobs !== undefined) invalid(at, 'has "steps" and "jobs"');
  if (steps !== undefined) {
    if (type === undefined) return 'graph';
    return type === 'chain' ? 'chain' : invalid(`${at}type`, '"steps" are those of a chain');
  }
  if (jobs !== undefined) {
    if (callbacks != null || type === 'batch') return 'batch';
    return type === 'group'
      ? 'group'
      : invalid(`${at}type`, '"jobs" are those of a group or a batch');
  }
  const isAny = at === '';
  if (isAny) invalid(type === 'chain' ? 'steps' : 'jobs', 'must be a list with at least one step');
  return 'job';
}

function graphOf(steps: readonly WorkflowNode[], at: string, leaf: Leaf): Record<string, object> {
  const nodes = steps.map((node, i) => {
    const here = `${at}steps[${i}].`;
    const step = stepOf(node, here);
    if (step.id == null) invalid(`${here}id`, 'must be a text');
    return { id: step.id, step, here };
  });
  const ids = new Set(nodes.map(({ id }) => id));
  if (ids.size < nodes.length) invalid(`${at}steps`, 'must have ids that differ');
  return Object.fromEntries(
    nodes.map(({ id, step, here }) => {
      const after = step.depends_on ?? [];
      const unknown = after.find((one) => !ids.has(one));
      if (unknown !== undefined) {
        invalid(`${here}depends_on`, `names "${unknown}", and there is no such step`);
      }
      return [id, { ...leaf(step), ...(after.length === 0 ? {} : { after }) }];
    }),
  );
}

/** @throws Refused */
function stepOf(node: WorkflowNode, at: string): WorkflowStep {
  const parsed = workflowStepSchema.safeParse(node);
  if (parsed.success) return parsed.data;
  const found = toProblems(parsed.error.issues, node).map(({ path, message }) => ({
    path: `${at}${path}`,
    message: `${at}${message}`,
  }));
  const reason = found[0]?.message ?? '';
  throw new Refused(problem('request_invalid', { part: 'body', reason }), found);
}

/** Calls back for each job in it. @throws Refused */
function eachStep(node: WorkflowNode, at: string, seen: (step: WorkflowStep) => unknown): void {
  const { steps, jobs, callbacks } = node;
  const kind = kindOfNode(node, at);
  if (kind === 'job') return void seen(stepOf(node, at));
  for (const [i, one] of (steps ?? jobs ?? []).entries()) {
    eachStep(one, `${at}${steps === undefined ? 'jobs' : 'steps'}[${i}].`, seen);
  }
  for (const name of callbackNames) {
    const one = callbacks?.[name];
    if (one !== undefined) eachStep(one, `${at}callbacks.${name}.`, seen);
  }
}

function invalid(path: string, message: string): never {
  const reason = path === '' ? message : `${path} ${message}`;
  const found = [{ path, message: reason }];
  throw new Refused(problem('request_invalid', { part: 'body', reason }), found);
}
