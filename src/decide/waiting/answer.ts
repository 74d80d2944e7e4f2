import { attachmentOf } from '../../model/big-result.js';
import type { LiveJob, Signal } from '../../model/job.js';
import { mostOf, problemIn } from '../../model/size.js';
import { exits, type WaitingStep } from '../../model/step.js';
import type { Leaf, WaitFor } from '../../model/tree.js';
import { contentOf } from '../../reading/attachments.js';
import { definitionFor, leafAt } from '../../reading/entries.js';
import { failStep } from '../finish/fail.js';
import { unfitForStep } from '../finish/unfit-result.js';
import type { Move } from '../intent.js';
import { lookUp } from '../queries.js';
import { withRecord } from '../requests/records.js';
import { unevaluated } from '../start/conditions.js';
import { inputOf } from '../start/prepare.js';
import { brokenSchemaOf, told, type Unfit } from '../start/suits.js';
import { withStep } from '../steps.js';
import type { World } from '../world.js';
import type { FormAsked } from '../../structures/people.js';
import type { JsonSchema } from '../../model/scalars.js';
import { isOfPeople } from '../../reading/people.js';
import { askedAt, endForm, notAsked, type FormAnswered } from './form.js';
import { releasedWait } from './released-wait.js';

type At = { readonly now: number; readonly world: World };

/**
 * Ends a step by a signal, which brings a result or a failure and is used up by it. Returns a query when
 * something must be found out first.
 *
 * N5 A signal whose data do not suit the `schema` of the wait is refused before anything comes of it: the
 *    job puts that on record, and the step waits on.
 * N6 The answer to a signal is written once, with the end of the step that took it: `answer`, or `answer_by`
 *    with the name of the later step whose result it is. `signal_id` says which signal it belongs to.
 */
export function answered(job: LiveJob, step: WaitingStep, signal: Signal, at: At): Move {
  const { id, data, failure: why } = signal;
  const { now, world } = at;
  const taken = { ...step, signal_id: id };
  const holding = withStep(job, step, taken);
  const failed = (failing: Unfit): Move => ({
    kind: 'change',
    job: failStep(holding, taken, { state: '$$error', ...failing }, now),
  });
  const leaf = leafAt(job, step.path);
  const asked = askedAt(leaf);
  const stranger = notAsked(job, step, signal, world);
  if (stranger !== undefined) return refusedMove(job, signal, stranger, now);
  if (why !== undefined) return failed({ failure: why, exit: exits.failed });
  const name = attachmentOf({ ...step, result: data });
  const isAside = name !== undefined && definitionFor(job, step)?.output_schema !== undefined;
  const content = isAside ? contentOf(job, world.contents, name) : { value: data };
  if (content === undefined) return lookUp({ attachments: [String(name)] });
  const wait = leaf?.entry.wait ?? {};
  const refusal = refusalFor(schemaOf(wait, asked), step, signal, world);
  if (refusal?.kind === 'broken') return failed(refusal.why);
  if (refusal !== undefined) return refusedMove(job, signal, refusal.because, now);
  const unfit = unfitForStep(holding, taken, content.value, world.schema);
  if (unfit !== undefined) return failed(unfit);
  const answer = answerTo(wait, holding, taken, { ...at, data });
  if (answer.kind === 'ask') return answer.move;
  if (answer.kind === 'unfit') return failed(answer.why);
  const telling = { ...taken, ...answer.answer };
  return {
    kind: 'change',
    job: endedBy({ signal, asked }, withStep(holding, taken, telling), telling, now),
  };
}

/** Ends a wait well by a signal; a person may have refused what was asked. */
function endedBy(
  by: Pick<FormAnswered, 'signal' | 'asked'>,
  job: LiveJob,
  step: WaitingStep,
  now: number,
): LiveJob {
  return isOfPeople(step)
    ? endForm(job, { ...by, step }, now)
    : releasedWait(job, step, by.signal.data, now);
}

type Refusal =
  | { readonly kind: 'refused'; readonly because: string }
  /** The schema itself is none. */
  | { readonly kind: 'broken'; readonly why: Unfit };

/** What the data of a signal must suit, and the key under which the entry has it. */
type Demanded = {
  readonly schema: JsonSchema | undefined;
  readonly key: string;
  /** What a signal without data brings. */
  readonly bare: unknown;
};

function schemaOf({ schema }: WaitFor, asked: FormAsked | undefined): Demanded {
  return asked === undefined
    ? { schema, key: 'wait.schema', bare: null }
    : { schema: asked.form, key: `${asked.word}.form`, bare: {} };
}

/** Why a signal cannot be taken by a wait; undefined: it can (N5). */
function refusalFor(
  { schema, key, bare }: Demanded,
  { name }: WaitingStep,
  { data }: Signal,
  { schema: read }: World,
): Refusal | undefined {
  if (schema === undefined) return undefined;
  const found = read(schema);
  const of = `step "${name}"`;
  if (!found.ok) return { kind: 'broken', why: brokenSchemaOf(of, found, key) };
  const large = problemIn('data', data, mostOf('data'));
  const problems = large === undefined ? found.problemsOf(data ?? bare, 'data') : [large];
  if (problems.length === 0) return undefined;
  const { problem, more } = told(problems);
  const others = more > 0 ? ` (and ${more} more)` : '';
  return {
    kind: 'refused',
    because: `The data do not suit the "${String(key.split('.').at(-1))}" of ${of}: ${problem}${others}.`,
  };
}

/** The job without the signal, with its refusal on record. */
function refusedMove(job: LiveJob, signal: Signal, because: string, now: number): Move {
  const { id, name, by, revision } = signal;
  const kept = (job.signals as readonly Signal[]).filter((one) => one !== signal);
  const known = {
    ...(revision === undefined ? {} : { revision }),
    ...(by === undefined ? {} : { by }),
  };
  const record = { id, ...known, action: 'signal', name, at: now, refused: because };
  return { kind: 'change', job: withRecord({ ...job, signals: kept }, record) };
}

type Told =
  | { readonly kind: 'ask'; readonly move: Move }
  | { readonly kind: 'unfit'; readonly why: Unfit }
  | { readonly kind: 'told'; readonly answer: Readonly<Record<string, unknown>> };

/** What the sender is answered, as far as that is known now (N6). */
function answerTo(
  { answer }: WaitFor,
  job: LiveJob,
  step: WaitingStep,
  { world, data }: At & { readonly data: unknown },
): Told {
  if (answer === undefined) return { kind: 'told', answer: {} };
  if (typeof answer !== 'string') return { kind: 'told', answer: { answer_by: answer.step } };
  const leaf = leafAt(job, step.path) as Leaf;
  const input = inputOf(job, { leaf, phase: step.phase }, world.contents);
  if (input.missing.length > 0)
    return { kind: 'ask', move: lookUp({ attachments: input.missing }) };
  const { params, results, parent_results, scope } = input;
  const { path, index, name, task } = step;
  const seen = { params, results, parent_results, data };
  const context = { ...scope, job, step: { path, index, name, task }, ...seen };
  const id = `${path}.wait.answer ${String(step.signal_id)}`;
  const known = world.answers.get(id);
  if (known === undefined) {
    return { kind: 'ask', move: lookUp({ questions: [{ id, expression: answer, context }] }) };
  }
  if (!known.ok) return { kind: 'unfit', why: unevaluated(`${path}.wait.answer`, known) };
  return { kind: 'told', answer: { answer: known.value ?? null } };
}
