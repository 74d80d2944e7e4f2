import { TwsError } from '../errors.js';
import type { CaughtMail } from '../mailbox/mail-server.js';
import type { Mailbox } from '../mailbox/mailbox.js';
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

export type MailboxOptions = {
  readonly dir: string;
  readonly onMail: (mail: CaughtMail) => void;
};

/**
 * Starts the mail server and the S3 server of the samples; what cannot start is left out with a
 * sentence, because the rest works without it.
 */
export async function startMailboxIfPossible(
  { dir, onMail }: MailboxOptions,
  io: Io,
): Promise<Mailbox | undefined> {
  const { startMailbox } = await import('../mailbox/mailbox.js');
  const leave = (part: string, error: unknown): undefined => {
    if (!(error instanceof TwsError)) throw error;
    io.warn(
      `${io.style('yellow', 'warning:', 'stderr')} no ${part}: ${error.message} ${error.hint}`,
    );
  };
  try {
    return await startMailbox({ dir, onMail });
  } catch (error) {
    leave('mail server and S3 server together', error);
  }
  try {
    return await startMailbox({ dir, onMail, s3Port: false });
  } catch (error) {
    return leave('mail server', error);
  }
}
