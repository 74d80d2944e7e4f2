import type * as Nodemailer from 'nodemailer';
import type { Socket } from 'node:net';
import {
  connectWithin,
  loadPackage,
  PluginError,
  type PluginContext,
} from '../src/plugin/index.js';
import {
  incomplete,
  mailSchema,
  mailTemplates,
  toMessage,
  type MailParams,
} from './_mail/message.js';
import { connectThrough, proxyOf } from './_mail/proxy.js';
import { connectionOf, type Smtp } from './_mail/smtp-options.js';

export const description = 'Sends a mail through an SMTP server';

export const templates = mailTemplates;

const smtpSchema = {
  type: 'object',
  properties: {
    host: { type: 'string' },
    port: { type: ['integer', 'string'] },
    secure: { type: 'boolean', description: 'TLS from the start; else STARTTLS where offered' },
    service: { type: 'string', description: 'a provider that nodemailer knows, instead of host' },
    auth: { type: 'object' },
    tls: { type: 'object', description: 'certificates are verified unless this says otherwise' },
    proxy: { type: 'string', description: 'a proxy with http or https before the server' },
  },
};

export const params = {
  type: 'object',
  properties: { ...mailSchema, smtp: smtpSchema, transport: smtpSchema },
};

type Params = MailParams & {
  readonly smtp?: Smtp;
  /** The older name of `smtp`. */
  readonly transport?: Smtp;
};

export type MailResult = {
  readonly message_id: string;
  readonly accepted: readonly string[];
  readonly rejected: readonly string[];
  readonly response: string;
};

export default async function mailSmtp(context: PluginContext<Params>): Promise<unknown> {
  const smtp = context.params.smtp ?? context.params.transport;
  if (!smtp?.host && !smtp?.service) throw incomplete('smtp.host');
  const message = await toMessage(context);
  const nodemailer = await loadPackage<typeof Nodemailer>('nodemailer', 'mail-smtp', context.cwd);
  const connection = withinEgress(smtp, context);
  const transport = nodemailer.createTransport(connection);
  try {
    const sent = await transport.sendMail({ ...message, signal: context.signal });
    const { messageId, accepted, rejected, response } = sent;
    return context.done({ message_id: messageId, accepted, rejected, response });
  } catch (error) {
    throw explained(error);
  } finally {
    transport.close();
  }
}

/** Has the mailer use a connection that the settings permit: to the server, or to the proxy before it. */
function withinEgress(smtp: Smtp, { egress, signal }: PluginContext<Params>) {
  const proxy = proxyOf(smtp);
  const options = connectionOf(smtp);
  const getSocket = ({ host = 'localhost', port, secure, localAddress }: Server, done: Opened) => {
    const to = { host, port: Number(port) || (secure === true ? 465 : 587) };
    const from = localAddress === undefined ? {} : { localAddress };
    const tls = { ...(options['tls'] as object | undefined) };
    const opening =
      proxy === undefined
        ? connectWithin(egress, { ...to, ...from }, signal)
        : connectThrough({ ...to, proxy, tls }, egress, signal);
    opening.then(
      (connection) => done(null, { connection }),
      (error: unknown) => done(error instanceof PluginError ? error : asOfMailer(error)),
    );
  };
  return { ...options, getSocket };
}

/** As the mailer tells of a socket that did not open. */
function asOfMailer(error: unknown): Error {
  const { message, errors = [] } = error as Error & { readonly errors?: readonly Error[] };
  const text = message === '' ? errors[0]?.message : message;
  const told = new Error(text, { cause: error });
  return Object.assign(told, { code: 'ESOCKET' });
}

type Server = {
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
  readonly secure?: boolean | undefined;
  readonly localAddress?: string | undefined;
};
type Opened = (error: Error | null, socket?: { readonly connection: Socket }) => void;

/**
 * What a server refuses with 4xx may be accepted later, what it refuses with 5xx never is; nor is a
 * mail without any address, which no server is asked about.
 */
function explained(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PluginError) return error;
  const { responseCode, code } = error as Error & { responseCode?: number; code?: string };
  const answered = responseCode !== undefined && responseCode >= 400;
  if (!answered && code !== 'EENVELOPE') return unreachable(error, code);
  return new PluginError(error.message, {
    name: code === 'EAUTH' ? 'MailLoginRefused' : 'MailRefused',
    code: answered ? responseCode : 'EENVELOPE',
    retryable: answered && responseCode < 500,
    cause: error,
  });
}

/** The word of the system (`ECONNREFUSED`) says more than that of the mailer (`ESOCKET`). */
function unreachable(error: Error, code: string | undefined): unknown {
  // An abort has a name of its own.
  if (error.name !== 'Error') return error;
  const word = /\bE[A-Z]{3,}\b/.exec(error.message)?.[0] ?? code;
  if (word === undefined) return error;
  const named = code === undefined ? { name: word } : { name: word, code };
  return new PluginError(error.message, { ...named, cause: error });
}
