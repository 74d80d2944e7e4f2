import { TwsError } from '../errors.js';
import type { BucketServer } from '../mailbox/bucket-server.js';
import { defaultMailPort, type CaughtMail, type MailServer } from '../mailbox/mail-server.js';
import type { Io } from './io.js';

/** A mail as it arrived, for the terminal; `kept`: its file stays there. */
export function mailLines(mail: CaughtMail, io: Io, kept: boolean): readonly string[] {
  const label = (text: string): string => io.style('dim', text);
  const block = (content: string): readonly string[] =>
    content.trim() === '' ? [] : ['', ...content.trim().split('\n')];
  return [
    `${label('From:   ')} ${mail.from}`,
    `${label('To:     ')} ${mail.to.join(', ')}`,
    `${label('Subject:')} ${io.style('bold', mail.subject)}`,
    ...block(mail.text),
    ...(mail.html === undefined ? [] : block(mail.html)),
    ...(kept ? ['', label(`kept in ${mail.file}`)] : []),
  ].map((line) => `  ${line}`.trimEnd());
}

export type DevMailboxOptions = {
  readonly dir: string;
  readonly onMail: (mail: CaughtMail) => void;
  /** 0: any free one; absent: that of the samples. */
  readonly mailPort?: number | undefined;
  readonly s3Port?: number | undefined;
};

/** The servers that could be started. */
export type StartedMailbox = {
  readonly mail: MailServer | undefined;
  readonly s3: BucketServer | undefined;
  readonly stop: () => Promise<void>;
};

/**
 * Starts the mail server and the S3 server of the samples; what cannot start is left out with a
 * sentence, because the rest works without it.
 */
export async function startMailboxIfPossible(
  { dir, onMail, mailPort, s3Port }: DevMailboxOptions,
  io: Io,
): Promise<StartedMailbox> {
  const [{ startMailServer }, { startBucketServer }] = await Promise.all([
    import('../mailbox/mail-server.js'),
    import('../mailbox/bucket-server.js'),
  ]);
  const mail = await orWarn(
    'mail server',
    () => startMailServer({ dir, onMail, ...at(mailPort) }),
    io,
  );
  const s3 = await orWarn('S3 server', () => startBucketServer({ dir, ...at(s3Port) }), io);
  return { mail, s3, stop: async () => void (await Promise.all([mail?.stop(), s3?.stop()])) };
}

const at = (port: number | undefined): { readonly port?: number } =>
  port === undefined ? {} : { port };

async function orWarn<T>(what: string, start: () => Promise<T>, io: Io): Promise<T | undefined> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof TwsError)) throw error;
    const label = io.style('yellow', 'warning:', 'stderr');
    io.warn(`${label} there will be no ${what}: ${error.message} ${error.hint}`);
    return undefined;
  }
}

/**
 * Lets what the engine of this process sends to the usual port, as the samples do, come to the mail server where it
 * is. Returns what is to be said of that, and how it is undone.
 */
export function leadHere({ port }: MailServer): {
  readonly hint: string | undefined;
  readonly undo: () => Promise<void>;
} {
  if (port === defaultMailPort) return { hint: undefined, undo: () => Promise.resolve() };
  process.env['TWS_MAILBOX_PORT'] = String(port);
  return {
    hint: `What this engine sends to port ${defaultMailPort} of 127.0.0.1, as the samples do, comes here.`,
    undo: () => {
      delete process.env['TWS_MAILBOX_PORT'];
      return Promise.resolve();
    },
  };
}
