import { stepId } from '../../../src/http/ojs/workflow/ids.js';
import type { WorkflowNode } from '../../../src/http/ojs/workflow/schemas.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { foretell, jobsIn, numbered, type Foretold } from '../ojs-oracle.js';
import type { Run } from './run.js';
import type { Way } from './orders.js';

/*
 * What must hold whatever died:
 *
 * OK1 The workflow ends, as its definition says it does, and nothing in it is open.
 * OK2 Each job that is to be done, callbacks too, is in the database once and comes to one end; any other is not there.
 * OK3 A worker does each of them once (one that it fails in order to have it tried again: twice), any other never.
 *     What an engine does itself is done again when the engine dies meanwhile, and only then.
 * OK4 They are done in their order: of a chain one after the other, callbacks when all jobs of the batch have ended.
 * OK5 No step is handed out while somebody has it whose lease has not ended.
 */

type Step = Readonly<Record<string, unknown>>;
type One = { readonly number: number; readonly fails: boolean; readonly way: Way };

/** A sentence for everything that is wrong with a run. */
export function judge(order: WorkflowNode, run: Run): readonly string[] {
  const all = numbered(order);
  const foretold = foretell(all);
  const [root, ...others] = run.jobs.toSorted(
    (a, b) => Number('parent' in a) - Number('parent' in b),
  );
  if (root === undefined) return [...run.wrong, 'There is no workflow.'];
  const made = jobsIn(all).map(({ number, fails, node }) => ({
    ...{ number, fails, way: node.type as Way },
  }));
  return [
    ...run.wrong,
    ...wrongEnd(root, foretold),
    ...[root, ...others].flatMap(openSteps),
    ...others
      .filter(({ parent }) => parent === undefined)
      .map(({ _id }) => `${_id} is a second workflow.`),
    ...made.flatMap((one) => wrongSteps(one, foretold, run, root._id)),
    ...made.flatMap((one) => wrongTimes(one, foretold, run)),
    ...wrongOrder(foretold, run),
  ];
}

/** OK1 */
function wrongEnd({ state, exit }: StoredDocument, { well }: Foretold): readonly string[] {
  if (state === '$$complete' && (exit === 0) === well) return [];
  return [`The workflow ended ${String(state)} with ${String(exit)}; well: ${String(well)}.`];
}

/** OK1 */
function openSteps(job: StoredDocument): readonly string[] {
  return stepsOf(job)
    .filter(({ end }) => end === undefined)
    .map(({ path, state }) => `${job._id} ${String(path)} is ${String(state)}.`);
}

/** OK2 */
function wrongSteps(
  { number, fails, way }: One,
  { done }: Foretold,
  { jobs, died }: Run,
  workflow: string,
): readonly string[] {
  const due = done.includes(number) ? 1 : 0;
  const isOwn = ({ params }: Step): boolean => {
    const { number: told, worker } = (params ?? {}) as {
      number?: number;
      worker?: { id?: string };
    };
    return told === number || worker?.id === stepId(workflow, number);
  };
  const homes = jobs.filter((one) => stepsOf(one).some(isOwn));
  const steps = homes.flatMap(stepsOf).filter(isOwn);
  const failed = (name: string): number =>
    steps.filter(({ failure }) => (failure as Step | undefined)?.['name'] === name).length;
  const well = steps.filter(({ state }) => state === '$$complete').length;
  const [lost, engineLost] = [failed('WorkerLost'), failed('EngineLost')];
  const again = way === 'again' ? failed('Busy') : 0;
  const ended = { well, failed: failed('Broken'), again };
  const wanted = {
    ...{ well: fails ? 0 : due, failed: fails ? due : 0 },
    again: way === 'again' ? due : 0,
  };
  const problems: string[] = [];
  const say = (what: string): void => void problems.push(`Job ${number} (${way}) ${what}`);
  if (homes.length !== due) say(`is in ${homes.length} jobs instead of ${due}.`);
  if (JSON.stringify(ended) !== JSON.stringify(wanted)) {
    say(`came to ${JSON.stringify(ended)} instead of ${JSON.stringify(wanted)}.`);
  }
  if (well + ended.failed + again + lost + engineLost < steps.length) say('has other steps.');
  if (lost > died.server) say(`was lost ${lost} times by workers.`);
  if (engineLost > died.engine) say(`was lost ${engineLost} times by engines.`);
  return problems;
}

/** OK3 */
function wrongTimes({ number, way }: One, { done }: Foretold, run: Run): readonly string[] {
  const due = done.includes(number) ? 1 : 0;
  const by = (who: string): number =>
    run.done.filter((one) => one.number === number && one.by === who).length;
  const [worker, engine] = [by('worker'), by('engine')];
  const isDoneWell =
    way === 'engine'
      ? worker === 0 && engine >= due && engine <= due * (1 + run.died.engine)
      : engine === 0 && worker === (way === 'again' ? 2 * due : due);
  if (isDoneWell) return [];
  return [`Job ${number} (${way}) was done ${worker} times by workers, ${engine} by engines.`];
}

/** OK4 */
function wrongOrder({ turns }: Foretold, run: Run): readonly string[] {
  const order = run.done.map(({ number }) => number);
  const places = (numbers: readonly number[]): readonly number[] =>
    order.flatMap((number, place) => (numbers.includes(number) ? place : []));
  return turns
    .filter(({ first, then }) => Math.max(...places(first)) > Math.min(...places(then)))
    .map(({ first, then }) => `${then.join()} is done before ${first.join()}: ${order.join()}.`);
}

function stepsOf({ steps }: StoredDocument): readonly Step[] {
  return (steps ?? []) as readonly Step[];
}
