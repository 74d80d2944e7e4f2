import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

export type Received = {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly raw: string;
};

/** Starts a real SMTP server for one test; `received` fills up with what it took. */
export async function smtpServer(
  options: SMTPServerOptions = {},
): Promise<{ readonly port: number; readonly received: Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    allowInsecureAuth: true,
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS'],
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, done) =>
      password === 'hunter22'
        ? done(null, { user: username })
        : done(Object.assign(new Error('wrong password'), { responseCode: 535 })),
    onData: (stream, { envelope, user }, done) => {
      void buffer(stream).then((bytes) => {
        received.push({
          from: envelope.mailFrom === false ? '' : envelope.mailFrom.address,
          to: envelope.rcptTo.map(({ address }) => address),
          user: user as string | undefined,
          raw: bytes.toString('utf8'),
        });
        done();
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  return { port: (listening.address() as AddressInfo).port, received };
}

/** A mail with header lines unfolded, for tests that look for one of them. */
export function unfolded(raw: string): string {
  return raw.replace(/\r\n[ \t]+/g, ' ').replace(/=\r\n/g, '');
}
