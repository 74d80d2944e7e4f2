import fc from 'fast-check';
import { callbackNames, type WorkflowNode } from '../../src/http/ojs/workflow/schemas.js';

/*
 * What a workflow comes to, by its definition alone. A job in it fails when its first argument says so.
 */

/** A part of a workflow, whose jobs have their numbers in the order of the definition, from 1. */
export type Numbered =
  | {
      readonly kind: 'job';
      readonly number: number;
      readonly fails: boolean;
      readonly node: WorkflowNode;
    }
  | {
      readonly kind: 'chain' | 'group' | 'batch';
      readonly parts: readonly Numbered[];
      readonly calls: Readonly<Record<string, Numbered>>;
    };

/** Gives the jobs of a workflow their numbers. */
export function numbered(node: WorkflowNode, last = { number: 0 }): Numbered {
  const list = node.steps ?? node.jobs;
  if (list === undefined) {
    const [{ fails = false }] = node['args'] as [{ fails?: boolean }];
    return { kind: 'job', number: (last.number += 1), fails, node };
  }
  const parts = list.map((one) => numbered(one, last));
  const calls: Record<string, Numbered> = {};
  for (const name of callbackNames) {
    const one = node.callbacks?.[name];
    if (one !== undefined) calls[name] = numbered(one, last);
  }
  const kind = node.steps === undefined ? (node.callbacks ? 'batch' : 'group') : 'chain';
  return { kind, parts, calls };
}

/** The jobs of a part. */
export function jobsIn(part: Numbered): readonly Extract<Numbered, { kind: 'job' }>[] {
  if (part.kind === 'job') return [part];
  return [...part.parts, ...Object.values(part.calls)].flatMap(jobsIn);
}

/** Of which two lists of jobs all of the one end before any of the other begins. */
export type InTurn = { readonly first: readonly number[]; readonly then: readonly number[] };
export type Foretold = {
  /** The jobs that are done, each of them once. */
  readonly done: readonly number[];
  readonly well: boolean;
  readonly turns: readonly InTurn[];
};

/** Which jobs are done, in what order, and whether all is well. */
export function foretell(part: Numbered): Foretold {
  if (part.kind === 'job') return { done: [part.number], well: !part.fails, turns: [] };
  const done: number[] = [];
  const turns: InTurn[] = [];
  let well = true;
  const follow = (one: Numbered, first: readonly number[]): boolean => {
    const came = foretell(one);
    turns.push({ first, then: came.done }, ...came.turns);
    done.push(...came.done);
    return came.well;
  };
  for (const one of part.parts) {
    const isWell = follow(one, part.kind === 'chain' ? [...done] : []);
    well &&= isWell;
    if (part.kind === 'chain' && !isWell) break;
  }
  if (part.kind !== 'batch') return { done, well, turns };
  const before = [...done];
  const called = [part.calls[well ? 'on_success' : 'on_failure'], part.calls['on_complete']];
  const calledWell = called.map((one) => one === undefined || follow(one, before));
  return { done, well: calledWell.every(Boolean), turns };
}

/** Workflows so deep, of such jobs. */
export function workflows(
  depth: number,
  leaves: fc.Arbitrary<WorkflowNode>,
): fc.Arbitrary<WorkflowNode> {
  if (depth === 0) return leaves;
  const inner = fc.oneof(
    { weight: 1, arbitrary: leaves },
    { weight: 2, arbitrary: workflows(depth - 1, leaves) },
  );
  const few = fc.array(inner, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    few.map((steps): WorkflowNode => ({ type: 'chain', steps })),
    few.map((jobs): WorkflowNode => ({ type: 'group', jobs })),
    fc
      .tuple(few, inner, fc.option(inner, { nil: undefined }), fc.option(inner, { nil: undefined }))
      .map(([jobs, complete, success, failure]): WorkflowNode => ({
        ...{ type: 'batch', jobs },
        callbacks: {
          on_complete: complete,
          ...(success === undefined ? {} : { on_success: success }),
          ...(failure === undefined ? {} : { on_failure: failure }),
        },
      })),
  );
}
