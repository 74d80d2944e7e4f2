import type { NotifyEntry } from '../../model/notify.js';
import { isFormEvent } from '../../model/occasions.js';
import type { AlertTold } from '../finish/notification.js';

/*
 * PF10 What an entry tells of a form goes to each user on their own, with their own link, where the entry says `each`,
 *      or uses both the link and who is asked. All of these notifications are named in one write, each with its user
 *      in its id, and with the id of one that tells all: what was told to some is told to nobody again, whoever is
 *      asked meanwhile.
 */

type Facts = Omit<AlertTold, 'at'>;

/** What one notification tells; `user`: the only one whom it is for. */
export type EachTold = { readonly user?: string; readonly facts: Facts };

/** More users are told at once: each notification is a job of its own. */
const mostUsers = 50;

/** Splits what is told of a form, one for each user whom it asks by name (PF10). */
export function eachTold(facts: Facts, entry: NotifyEntry): readonly EachTold[] {
  const { assignee = [], answer, event } = facts;
  const { each = usesLinkOf(entry) } = entry;
  const isSplit = each && isFormEvent(event) && assignee.length > 1;
  if (!isSplit || assignee.length > mostUsers) return [{ facts }];
  return assignee.map((user) => {
    const links = answer?.links.filter(({ for: of }) => of === user);
    const own = links === undefined || answer === undefined ? {} : { answer: { ...answer, links } };
    return { user, facts: { ...facts, assignee: [user], ...own } };
  });
}

/** A message to an address that does not depend on who is asked is read by others. */
function usesLinkOf({ params, body, url, headers, flow }: NotifyEntry): boolean {
  if (flow !== undefined) return false;
  const text = JSON.stringify([params, body, url, headers]);
  return /\bform\.link\b/.test(text) && /\bnotifies\.assignee\b/.test(text);
}

/** A user in the id of a notification: no user gets the id of another entry. */
export function inId(user: string): string {
  return user.replaceAll('%', '%25').replaceAll(':', '%3A');
}
