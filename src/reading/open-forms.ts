import type { LiveJob } from '../model/job.js';
import type { StepForm, WaitingStep } from '../model/step.js';
import { without } from '../model/record.js';
import { formAskedBy } from '../structures/people.js';
import { leafAt } from './entries.js';
import { isOfPeople } from './people.js';

/** A form of a job that waits for its answer. Times are epoch ms. */
export type OpenForm = StepForm & FormPlace;

/** Where a form waits, and its fields. */
type FormPlace = {
  readonly job: string;
  readonly flow: string;
  readonly owner: string;
  /** Path and name of the step, and its attempt. */
  readonly path: string;
  readonly step: string;
  readonly attempt: number;
  readonly signal: string;
  readonly since: number;
  /** JSON Schema of the answer. */
  readonly form: Readonly<Record<string, unknown>>;
};

/** Returns the forms of a job that wait for an answer, in the order in which they began. */
export function openForms(job: LiveJob): readonly OpenForm[] {
  const { _id, owner, flow_definition: flow } = job;
  return job.steps.flatMap((step) => {
    if (step.state !== '$$waiting' || !isOfPeople<WaitingStep>(step)) return [];
    const leaf = leafAt(job, step.path);
    const asked = leaf === undefined ? undefined : formAskedBy(leaf.entry);
    if (asked === undefined) return [];
    const { path, name, attempt, signal, accepted } = step;
    const of = { job: _id, flow: flow.name, owner: owner ?? flow.owner };
    const at = { path, step: name, attempt, signal: String(signal), since: Number(accepted) };
    return [{ ...step.form, ...of, ...at, form: asked.form }];
  });
}

/** What people need of a form: neither its timers nor its links. */
export type ShownForm = FormPlace & Pick<StepForm, 'title' | 'text' | 'assignee' | 'group' | 'due'>;

const hidden = ['timers', 'escalate', 'answered', 'links', 'concealed', 'schema'] as const;

/** Returns what people need of a form. */
export function shownForm(form: OpenForm): ShownForm {
  return without(form, ...hidden);
}
