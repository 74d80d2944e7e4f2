import { TwsError } from '../errors.js';
import {
  byLink,
  linkPlace,
  type AnswerLinks,
  type LinkPlace,
  type StepLink,
} from '../model/answer-link.js';
import type { OpenForm } from '../reading/open-forms.js';
import type { Store } from '../store/store.js';
import { answerProblems, formsOf } from './inbox.js';
import { sendSignal } from './messages.js';
import type { Problem } from '../model/problems.js';

/** A form that a link opens, and the user whose link it is. */
export type LinkedForm = { readonly form: OpenForm; readonly user: string };

/** What became of an answer by a link. `gone`: the link is wrong, used or too old; the answer does not tell which. */
export type LinkAnswered =
  | { readonly kind: 'gone' }
  | { readonly kind: 'unfit'; readonly linked: LinkedForm; readonly problems: readonly Problem[] }
  | { readonly kind: 'sent'; readonly linked: LinkedForm; readonly signal: string };

/** A token as it came, and when (epoch ms). */
export type LinkGiven = {
  readonly links: AnswerLinks;
  readonly token: string;
  readonly now: number;
};

type Found = LinkedForm & { readonly place: LinkPlace; readonly id: string };

/** Returns the form that a token opens; undefined: it is wrong, used or too old. */
export async function linkedForm(store: Store, given: LinkGiven): Promise<LinkedForm | undefined> {
  const found = await findLinked(store, given);
  return found && { form: found.form, user: found.user };
}

/** Answers the form that a token opens, once. `answerOf` reads what was filled in. */
export async function sendLinkAnswer(
  store: Store,
  given: LinkGiven,
  answerOf: (form: OpenForm) => unknown,
): Promise<LinkAnswered> {
  const found = await findLinked(store, given);
  if (found === undefined) return { kind: 'gone' };
  const { form, user, place, id } = found;
  const linked = { form, user };
  const data = answerOf(form);
  const problems = answerProblems(form, data);
  if (problems.length > 0) return { kind: 'unfit', linked, problems };
  const { job, path: step, attempt, signal: name } = form;
  const proof = given.links.proofOf(place, data);
  const sent = { job, name, data, by: user, as: byLink, step, attempt, proof, id };
  try {
    return { kind: 'sent', linked, signal: await sendSignal(store, sent) };
  } catch (error) {
    const isUsed = error instanceof TwsError && gone.has(error.code);
    if (!isUsed) throw error;
    return { kind: 'gone' };
  }
}

/** Somebody else was faster, with the same link or by ending the job. */
const gone: ReadonlySet<string> = new Set(['document_conflict', 'job_ended', 'id_taken']);

async function findLinked(
  store: Store,
  { links, token, now }: LinkGiven,
): Promise<Found | undefined> {
  const read = links.read(token);
  // Whatever the token, one document is asked for.
  const doc = await store.get(read?.job ?? 'no-job');
  if (read === undefined || doc === undefined) return undefined;
  for (const form of formsOf(doc)) {
    for (const link of form.links ?? []) {
      const place = placeOf(form, link);
      if (!links.holds(read.code, place, link.hash) || link.until <= now) continue;
      const id = `link-${link.hash}`;
      const signal = `signal:${form.job}:${id}`;
      if (hasSignal(doc, signal) || (await store.get(signal)) !== undefined) return undefined;
      return { form, user: link.for, place, id };
    }
  }
  return undefined;
}

function placeOf({ job, path, attempt, since }: OpenForm, link: StepLink): LinkPlace {
  return linkPlace({ job, path, attempt, since }, link);
}

/** An engine has put the answer into the job already. */
function hasSignal({ signals }: Readonly<Record<string, unknown>>, id: string): boolean {
  return (
    Array.isArray(signals) && signals.some((one) => (one as { readonly id?: unknown }).id === id)
  );
}
