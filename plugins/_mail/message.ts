import { createHash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import { PluginError, type PluginContext } from '../../src/plugin/index.js';
import { toAttachments, type Attachment } from './attachments.js';

type Address = string | { readonly name: string; readonly address: string };
type Addresses = Address | readonly Address[];

/** What both mail plugins take. */
export type MailParams = {
  readonly from?: Address;
  readonly to?: Addresses;
  readonly cc?: Addresses;
  readonly bcc?: Addresses;
  readonly reply_to?: Addresses;
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  /** The older name of `html`. */
  readonly template?: string;
  readonly attachments?: readonly (string | Attachment)[];
  readonly headers?: Readonly<Record<string, string>>;
};

/** They arrive as written and are filled in here, because only HTML is escaped. */
export const mailTemplates = ['subject', 'text', 'html', 'template'];

const address = {
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      required: ['address'],
      properties: { name: { type: 'string' }, address: { type: 'string' } },
    },
  ],
};
const addresses = { anyOf: [...address.anyOf, { type: 'array', items: address }] };

/** The `properties` of their schema; who is missing is told by `toMessage`. */
export const mailSchema = {
  from: address,
  to: addresses,
  cc: addresses,
  bcc: addresses,
  reply_to: addresses,
  subject: { type: 'string' },
  text: { type: 'string' },
  html: { type: 'string' },
  template: { type: 'string', description: 'the older name of html' },
  attachments: {
    type: 'array',
    items: {
      type: ['string', 'object'],
      properties: {
        filename: { type: 'string' },
        content: { type: 'string' },
        path: { type: 'string' },
        content_type: { type: 'string' },
        encoding: { type: 'string', description: 'of content; base64, for example' },
        cid: { type: 'string' },
      },
    },
  },
  headers: { type: 'object', additionalProperties: { type: 'string' } },
};

/** The failure of a mail that lacks something without which it must not be sent. */
export function incomplete(missing: string): PluginError {
  return new PluginError(`The mail cannot be sent: the parameter ${missing} is missing.`, {
    name: 'MailIncomplete',
    retryable: false,
    exit: 3,
  });
}

/**
 * The finished message: templates filled in, attachments read. Throws `MailIncomplete` without
 * sender or recipient. A repeated attempt makes the same Message-ID, so that it can be recognised.
 */
export async function toMessage(context: PluginContext<MailParams>): Promise<SendMailOptions> {
  const { params, render, key, cwd } = context;
  const { from, to, cc, bcc, subject, text, headers } = params;
  if (isNobody(from)) throw incomplete('from');
  if (isNobody(to)) throw incomplete('to');
  const html = params.html ?? params.template;
  const fields = {
    from,
    to,
    cc,
    bcc,
    replyTo: params.reply_to,
    subject: subject === undefined ? undefined : render(subject),
    text: text === undefined ? undefined : render(text),
    html: html === undefined ? undefined : render(html, { html: true }),
    attachments: await toAttachments(params.attachments ?? [], cwd),
    headers,
    messageId: messageId(key, from),
    // Whatever a mail names as a file has been read already, inside the project's bounds.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

function isNobody(who: Addresses | undefined): boolean {
  if (who === undefined || who === null) return true;
  if (typeof who === 'string') return who.trim() === '';
  return Array.isArray(who) && who.every((one: Address) => isNobody(one));
}

function messageId(key: string, from: Address | undefined): string {
  const sender = typeof from === 'object' ? from.address : (from ?? '');
  const domain = /@([A-Za-z0-9.-]+)/.exec(sender)?.[1] ?? 'localhost';
  return `<${createHash('sha256').update(key).digest('hex').slice(0, 40)}@${domain}>`;
}
