import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { simpleParser } from 'mailparser';
import type * as Smtp from 'smtp-server';
import { loadPart, portTaken } from './parts.js';

export type CaughtMail = {
  /** As its header says. */
  readonly from: string;
  /** Every recipient of the envelope: those of cc and bcc as well. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Absent for a mail without HTML. */
  readonly html?: string;
  /** The file that holds the mail, absolute; beside it its text stands in a `.txt` with whole lines. */
  readonly file: string;
};

export type MailServerOptions = {
  /** 2525 when absent, 0 for any free one. */
  readonly port?: number;
  /** Mails are kept as `mail/<n>-<subject>.eml` in this folder, and their texts as `.txt`. */
  readonly dir: string;
  readonly onMail: (mail: CaughtMail) => void;
};

export type MailServer = { readonly port: number; readonly stop: () => Promise<void> };

const host = '127.0.0.1';
/** Where the samples send their mail. */
export const defaultMailPort = 2525;
const largestMail = 25 * 1024 * 1024;
/** A link in a mail may answer a form without a sign-in. */
const mode = { mode: 0o600 };

/**
 * An SMTP server without TLS that takes every mail, with any login or none, and delivers nothing.
 * Throws `mailbox_port_taken`, or `part_missing` where its packages are not installed.
 */
export async function startMailServer(options: MailServerOptions): Promise<MailServer> {
  const folder = join(options.dir, 'mail');
  const { SMTPServer } = await loadPart<typeof Smtp>('smtp-server', options.dir);
  const parser = await loadPart<{ simpleParser: typeof simpleParser }>('mailparser', options.dir);
  await mkdir(folder, { recursive: true });
  let last = await highestNumber(folder);
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: largestMail,
    closeTimeout: 1000,
    onAuth: ({ username }, _session, done) => done(null, { user: username ?? '' }),
    onData: (stream, session, done) => {
      const recipients = session.envelope.rcptTo.map(({ address }) => address);
      const keep = async (): Promise<void> => {
        const bytes = await buffer(stream);
        if (stream.sizeExceeded) throw new Error('The mail is too large.');
        const { subject = '', text = '', html, from } = await parser.simpleParser(bytes);
        const file = join(folder, `${++last}-${slug(subject)}.eml`);
        const mail = { from: from?.text ?? '', to: recipients, subject, text };
        await writeFile(file, bytes, mode);
        await writeFile(file.replace(/eml$/, 'txt'), readable(mail), mode);
        options.onMail({ ...mail, ...(typeof html === 'string' ? { html } : {}), file });
      };
      keep().then(
        () => done(),
        (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
      );
    },
  });
  // Failures to listen are told below, and a client that breaks off is its own affair.
  server.on('error', () => undefined);
  const listening = server.listen(options.port ?? defaultMailPort, host);
  await once(listening, 'listening').catch((error: unknown) => {
    throw portTaken(error, options.port ?? defaultMailPort, 'mail server');
  });
  const { port } = listening.address() as AddressInfo;
  return { port, stop: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** For people: mails are sent with folded lines, from which a long link cannot be copied. */
function readable({ from, to, subject, text }: Omit<CaughtMail, 'html' | 'file'>): string {
  return `From: ${from}\nTo: ${to.join(', ')}\nSubject: ${subject}\n\n${text.trimEnd()}\n`;
}

/** Numbers go on where an earlier run of the mailbox left off. */
async function highestNumber(folder: string): Promise<number> {
  const numbers = (await readdir(folder)).map((name) => Number.parseInt(name, 10));
  return Math.max(0, ...numbers.filter((number) => Number.isSafeInteger(number)));
}

function slug(subject: string): string {
  const words = subject
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-');
  return words.slice(0, 60).replace(/^-+|-+$/g, '') || 'mail';
}
