import { notifiesOf, type Notifies } from '../model/notify.js';
import { isFormEvent } from '../model/occasions.js';

type Doc = Readonly<Record<string, unknown>>;

/** A link that a notification may carry. */
export type LinkTold = NonNullable<Notifies['answer']>['links'][number];

/**
 * Returns the link that stands for `form.link` in a notification: of the only user who is asked by name. Where others
 * are asked as well, they may read the notification, whether their own links are good or not. A notification that was
 * begun anew has none, since its parameters may be others by then.
 */
export function linkToldBy(job: Doc): LinkTold | undefined {
  const { answer, assignee = [] } = notifiesOf(job) ?? {};
  return assignee.length === 1 && job['run'] === 1 ? answer?.links[0] : undefined;
}

/**
 * What templates of a notification see as `form`: `link`, an address at which the form can be answered. Where there is
 * no link for one user, it is the page of the job. `address`: what stands for the link.
 */
export function formTold(
  job: Doc,
  address: (link: LinkTold) => string = ({ mark }) => mark,
): { readonly form?: Doc } {
  const notifies = notifiesOf(job);
  if (notifies?.event === undefined || !isFormEvent(notifies.event)) return {};
  const told = linkToldBy(job);
  const { link: page } = notifies;
  const link = told === undefined ? page : address(told);
  return { form: link === undefined ? {} : { link } };
}
