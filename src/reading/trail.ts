import { addTo } from '../model/grouped.js';
import { pathsAbove } from '../model/tree.js';
import { isOpen, type Step } from '../model/step.js';
import { finishingStep, withoutStaleBranches } from './attempts.js';
import type { FlowSettings, LiveJob } from '../model/job.js';

/**
 * What is known besides the tree: a job document, or for a flow that nobody runs its settings and
 * tasks alone. With `steps` the picture has states.
 */
export type ShownJob = Partial<
  Pick<LiveJob, 'steps' | 'definitions' | 'run' | 'first_run' | 'slice'>
> & {
  readonly state?: string;
  readonly exit?: number;
  readonly flow_definition?: Partial<FlowSettings>;
};

/** A job that has steps. */
export type BegunJob = ShownJob & { readonly steps: readonly Step[] };

/** What the steps of a job left behind, by path in the job (`2.map.17.0`). */
export type Trail = {
  /** Where attempts were made or something was found out, in the order of the first of each. */
  readonly paths: readonly string[];
  /** Attempts at a path that count, oldest first. */
  readonly at: (path: string) => readonly Step[];
  readonly last: (path: string) => Step | undefined;
  /** Something was done at a path or below it. */
  readonly hasBegun: (path: string) => boolean;
  /** Something was done at a path or below it that was not merely left out. */
  readonly hasRun: (path: string) => boolean;
  /** What is on record about a structure at a path or below it does not fit, in this run. */
  readonly isUnfit: (path: string) => boolean;
  /** Open steps at a path or below it. */
  readonly openBelow: (path: string) => readonly Step[];
  /** The last attempts of all steps right below a path whose next word is one of these. */
  readonly below: (path: string, words: readonly string[]) => readonly Step[];
  readonly run: number;
  /** The job is final: nothing begins any more. */
  readonly isOver: boolean;
  /** All of its tree succeeded. */
  readonly isSuccess: boolean;
};

/** Reads the steps of a job once. What it did before it began anew counts no more. */
export function trailOf(job: BegunJob): Trail {
  const { run = 1, first_run: first = 1, state, exit, slice } = job;
  const counted = job.steps.filter(
    (step) => isStep(step) && step.run >= first && !isOfEarlierEnd(step, run),
  );
  const steps = withoutStaleBranches({ steps: counted, run }, counted);
  const byPath = new Map<string, Step[]>();
  const begun = new Set<string>();
  const ran = new Set<string>();
  const open = new Map<string, Step[]>();
  const unfit = new Set<string>();
  for (const step of [...(slice?.before ?? []), ...steps]) {
    addTo(byPath, step.path, step);
    for (const path of pathsAbove(step.path)) {
      begun.add(path);
      if (step.state !== '$$skipped') ran.add(path);
      if (isOpen(step)) addTo(open, path, step);
      if (step.run === run && nameOf(step) === 'MarkUnfit') unfit.add(path);
    }
  }
  const last = (path: string): Step | undefined => byPath.get(path)?.at(-1);
  return {
    paths: [...byPath.keys()],
    at: (path) => byPath.get(path) ?? [],
    last,
    hasBegun: (path) => begun.has(path),
    hasRun: (path) => ran.has(path),
    isUnfit: (path) => unfit.has(path),
    openBelow: (path) => open.get(path) ?? [],
    below: (path, words) => {
      const starts = words.map((word) => (path === '' ? `${word}.` : `${path}.${word}.`));
      const isRight = (at: string): boolean =>
        starts.some((start) => at.startsWith(start) && !at.slice(start.length).includes('.'));
      return [...byPath.keys()].filter(isRight).map((at) => last(at) as Step);
    },
    run,
    isOver: state === '$$complete' || state === '$$cancelled',
    // A handler of the flow may say that all is well after all, and a step may finish the flow: its tree
    // has not succeeded all the same.
    isSuccess:
      state === '$$complete' &&
      exit === 0 &&
      !begun.has('error') &&
      finishingStep({ steps, run }) === undefined,
  };
}

/** Documents are read as they are: somebody may have edited this one. */
function isStep(step: unknown): boolean {
  const { path, state } = (step ?? {}) as { readonly path?: unknown; readonly state?: unknown };
  return typeof path === 'string' && typeof state === 'string';
}

/** How an earlier run ended: its handler and its cancel branch. */
function isOfEarlierEnd({ path, run }: Step, now: number): boolean {
  return run < now && /^(?:error|cancel)(?:\.|$)/.test(path);
}

function nameOf(step: Step): unknown {
  const { failure } = step as { readonly failure?: { readonly name?: unknown } };
  return failure?.name;
}
