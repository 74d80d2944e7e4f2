import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type * as Nodemailer from 'nodemailer';
import { loadPackage, PluginError, type PluginContext } from '../src/plugin/index.js';
import { mailSchema, mailTemplates, toMessage, type MailParams } from './_mail/message.js';

export const description = 'Sends a mail through the sendmail program of this machine';

export const templates = mailTemplates;

const programSchema = {
  path: { type: 'string', description: 'must be a usual one, or what TWS_SENDMAIL says' },
  newline: { enum: ['unix', 'windows'] },
};

export const params = {
  type: 'object',
  properties: {
    ...mailSchema,
    ...programSchema,
    transport: { type: 'object', properties: programSchema, description: 'the older place' },
  },
};

type Program = {
  readonly path?: string;
  readonly args?: unknown;
  readonly newline?: 'unix' | 'windows';
};
type Params = MailParams & Program & { readonly transport?: Program };

export default async function mailSendmail(context: PluginContext<Params>): Promise<unknown> {
  const { params, cwd, signal } = context;
  const { path: wanted, args: wantedArgs, newline = 'unix' } = { ...params.transport, ...params };
  const { path, args } = program(wanted, wantedArgs);
  const message = await toMessage(context);
  const nodemailer = await loadPackage<typeof Nodemailer>('nodemailer', 'mail-sendmail', cwd);
  // Composed by nodemailer, handed over here: so that the signal ends the program as well.
  const composer = nodemailer.createTransport({ streamTransport: true, buffer: true, newline });
  const { cc, bcc, ...visible } = message;
  const { envelope } = await composer.sendMail({ from: message.from, to: message.to, cc, bcc });
  const recipients = envelope.to.map(safeAddress);
  if (recipients.length === 0) throw refused('There is no address in the parameter to.');
  const sender = envelope.from === false ? [] : ['-f', safeAddress(envelope.from)];
  // Not every sendmail takes the Bcc line away.
  const composed = await composer.sendMail({ ...visible, cc, envelope });
  const all = ['-i', ...(args ?? sender), ...recipients];
  await pipeInto(path, all, composed.message as Buffer, signal);
  const { messageId } = composed;
  return context.done({
    message_id: messageId,
    accepted: recipients,
    rejected: [],
    response: 'queued',
  });
}

/** Where the program is on most machines. */
const usual = ['sendmail', '/usr/sbin/sendmail', '/usr/lib/sendmail', '/usr/bin/sendmail'];

/**
 * The program and its arguments are the operator's to say (`TWS_SENDMAIL`: the path, then arguments
 * that stand instead of `-f SENDER`), not those of whoever may write a job: sendmail's options read
 * and write any file, and another program would do anything.
 */
function program(wanted: string | undefined, wantedArgs: unknown) {
  const [own, ...args] = (process.env['TWS_SENDMAIL'] ?? '').split(/\s+/).filter(Boolean);
  if (wantedArgs !== undefined) throw notAllowed('args');
  if (wanted !== undefined && wanted !== own && !usual.includes(wanted)) throw notAllowed('path');
  const path = own ?? wanted ?? 'sendmail';
  return { path, args: args.length === 0 ? undefined : args };
}

const notAllowed = (name: string): PluginError =>
  new PluginError(
    `The parameter ${name} cannot choose the program of a mail; set TWS_SENDMAIL where the engine runs.`,
    { name: 'ProgramRefused', retryable: false, exit: 3 },
  );

/** An address that begins with a dash would be read as an option. */
function safeAddress(address: string): string {
  if (/^"?-/.test(address)) throw refused(`"${address}" is no address for sendmail.`);
  return address;
}

const refused = (message: string): PluginError =>
  new PluginError(message, { name: 'MailRefused', retryable: false });

async function pipeInto(
  path: string,
  args: readonly string[],
  message: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const program = spawn(path, args, { signal, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  program.stderr.on('data', (part: Buffer) => (complaint += part.toString('utf8')));
  // A program that ends early tells why by its exit, not by the pipe that it left.
  program.stdin.on('error', () => undefined);
  program.stdin.end(message);
  const [code, killedBy] = (await once(program, 'close').catch((error: unknown) => {
    throw notStarted(path, error);
  })) as [number | null, string | null];
  if (code === 0) return;
  const how = code === null ? `was ended by ${killedBy}` : `ended with exit ${code}`;
  throw new PluginError(`The program ${path} ${how}: ${firstLine(complaint)}`, {
    name: 'MailRefused',
    ...(code === null ? {} : { code, retryable: code === temporaryFailure }),
  });
}

/** EX_TEMPFAIL of sysexits.h. */
const temporaryFailure = 75;

function notStarted(path: string, error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return error;
  return new PluginError(`The program ${path} is not installed on this machine.`, {
    name: 'MissingProgram',
    code: 'ENOENT',
    retryable: false,
  });
}

const firstLine = (text: string): string => text.trim().split('\n')[0] || 'it said nothing.';
