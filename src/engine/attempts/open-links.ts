import { linkPlace, type AnswerLinks } from '../../model/answer-link.js';
import type { LiveJob } from '../../model/job.js';
import { notifiesOf } from '../../model/notify.js';
import { formTold, linkToldBy } from '../../reading/form-told.js';

type Json = Readonly<Record<string, unknown>>;

/** Makes the addresses of links. */
export type LinkMaker = {
  readonly links: AnswerLinks;
  /** The address at which the form of a token is answered. */
  readonly addressOf: (token: string) => string;
};

/** Parameters in which links stand, what templates see as `form`, and the texts that nothing may show. */
export type OpenedLinks = {
  readonly params: Json;
  readonly form?: Json;
  readonly clear: readonly string[];
};

/**
 * Puts the link of a notification in the place of its mark, for one attempt: nothing that is stored has it. A mark that
 * was not made for this notification stays as it is.
 */
export function openLinks(job: LiveJob, params: Json, maker: LinkMaker | undefined): OpenedLinks {
  const { form } = formTold(job);
  if (form === undefined) return { params, clear: [] };
  const made = addressFor(job, maker);
  if (made === undefined) return { params, form, clear: [] };
  const { mark, address, token } = made;
  return {
    params: replaced(params, mark, address) as Json,
    ...formTold(job, () => address),
    clear: [address, token, token.slice(token.indexOf('.') + 1)],
  };
}

function addressFor(job: LiveJob, maker: LinkMaker | undefined) {
  const told = linkToldBy(job);
  const { answer, job: subject = '' } = notifiesOf(job) ?? {};
  if (maker === undefined || told === undefined || answer === undefined) return undefined;
  const { links, addressOf } = maker;
  const { hash, mark } = told;
  const token = links.tokenOf(linkPlace({ ...answer, job: subject }, told), hash);
  if (token === undefined || mark !== links.markOf(job._id, hash)) return undefined;
  return { mark, token, address: addressOf(token) };
}

function replaced(value: unknown, mark: string, address: string): unknown {
  if (typeof value === 'string') return value.replaceAll(mark, () => address);
  if (Array.isArray(value)) return value.map((one) => replaced(one, mark, address));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, replaced(one, mark, address)]),
  );
}
