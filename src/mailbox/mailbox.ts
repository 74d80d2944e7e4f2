import { startBucketServer, type BucketServer } from './bucket-server.js';
import { startMailServer, type CaughtMail, type MailServer } from './mail-server.js';

type MailboxOptions = {
  /** Port of the mail server; 2525 when absent, 0 for any free one. */
  readonly port?: number;
  /** Port of the bucket server; 4568 when absent, 0 for any free one, false for no such server. */
  readonly s3Port?: number | false;
  /** Mails are kept in `mail` of this folder, objects in `s3`. */
  readonly dir: string;
  /** Buckets that exist from the start. */
  readonly buckets?: readonly string[];
  readonly onMail: (mail: CaughtMail) => void;
};

export type Mailbox = {
  readonly mail: MailServer;
  readonly s3: BucketServer | undefined;
  /** Ends both servers; what they keep stays. */
  readonly stop: () => Promise<void>;
};

/**
 * Starts the servers that catch, on this machine only, what mail and upload plugins send.
 * Throws `mailbox_port_taken`, or `part_missing` where their packages are not installed.
 */
export async function startMailbox(options: MailboxOptions): Promise<Mailbox> {
  const { port, s3Port, dir, buckets, onMail } = options;
  const mail = await startMailServer({ dir, onMail, ...(port === undefined ? {} : { port }) });
  try {
    const s3 =
      s3Port === false
        ? undefined
        : await startBucketServer({
            dir,
            ...(s3Port === undefined ? {} : { port: s3Port }),
            ...(buckets === undefined ? {} : { buckets }),
          });
    return { mail, s3, stop: async () => void (await Promise.all([mail.stop(), s3?.stop()])) };
  } catch (error) {
    await mail.stop();
    throw error;
  }
}
