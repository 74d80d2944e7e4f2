import {
  byLink,
  linkPlace,
  usualLinkMs,
  type LinkPlace,
  type StepLink,
} from '../../model/answer-link.js';
import type { LiveJob, Signal } from '../../model/job.js';
import type { StepForm, WaitingStep } from '../../model/step.js';
import type { FormAsked } from '../../structures/people.js';
import type { World } from '../world.js';

/*
 * Links by which people answer without signing in.
 *
 * PF6 A link is made for each user who is asked, when that one is asked, and a new one when a reminder, what is due or
 *     an escalation is told and the former is over. It is bound to the job, the step, the attempt and the user; the
 *     step holds only the hash of its token, and until when it is good.
 * PF7 An answer `as` link counts where its proof is that of a link which the step has, and of just these data. Only
 *     the holder of the key makes proofs: neither a hash nor an answer that was written by hand is one.
 * PF8 Only what a stored flow or a notify list has told gets links, while they are good: with `notify` of a job, its
 *     submitter could answer in the place of others.
 */

export type LinkWorld = Pick<World, 'answerLinks'>;

/** The attempt that waits. */
export type LinkStep = Pick<LinkPlace, 'job' | 'path' | 'attempt' | 'since'>;

/** What the links of a wait are made of; `due`: epoch ms. */
export type LinksAsked = Pick<FormAsked, 'link'> & Pick<StepForm, 'due'>;

/** Makes links for users who are asked now (PF6); undefined: there are none. */
export function linksFor(
  users: readonly string[] = [],
  step: LinkStep,
  { asked: { link, due = 0 }, now }: { readonly asked: LinksAsked; readonly now: number },
  { answerLinks }: LinkWorld,
): readonly StepLink[] | undefined {
  if (answerLinks === undefined || link === false || users.length === 0) return undefined;
  const until = link !== undefined ? now + link : due > now ? due : now + usualLinkMs;
  return users.map((user) => {
    const hash = answerLinks.hashOf(linkPlace(step, { for: user, until }));
    return { for: user, hash, until };
  });
}

/** The attempt to which the links of a waiting step are bound. */
export function linkStepOf({ _id: job }: LiveJob, step: WaitingStep): LinkStep {
  const { path, attempt, accepted } = step;
  return { job, path, attempt, since: Number(accepted) };
}

/** Returns why an answer as link does not count (PF7); undefined: it does, or is none. */
export function unprovenLink(
  job: LiveJob,
  step: WaitingStep & { readonly form: StepForm },
  { as, by, data, proof }: Signal,
  { answerLinks }: LinkWorld,
): string | undefined {
  if (as !== byLink) return undefined;
  const links = step.form.links?.filter(({ for: user }) => user === by) ?? [];
  const at = linkStepOf(job, step);
  const isProven = links.some(
    (link) => answerLinks?.proves(proof, linkPlace(at, link), data) === true,
  );
  return isProven
    ? undefined
    : `Step "${step.name}" takes no answer by a link that was not made for it.`;
}
