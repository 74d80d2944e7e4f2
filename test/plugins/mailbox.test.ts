import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bucketCredentials, startBucketServer } from '../../src/mailbox/bucket-server.js';
import { startMailbox } from '../../src/mailbox/mailbox.js';
import type { CaughtMail } from '../../src/mailbox/mail-server.js';
import { folderWith } from '../plugin/attempt.js';
import { run } from './shipped.js';

async function mailbox(dir: string) {
  const caught: CaughtMail[] = [];
  const box = await startMailbox({
    port: 0,
    s3Port: 0,
    dir,
    buckets: ['files'],
    onMail: (mail) => void caught.push(mail),
  });
  onTestFinished(box.stop);
  return { box, caught };
}

const mail = { from: 'Shop <shop@example.com>', to: 'ann@example.com', text: 'x' };

describe('the mailbox', () => {
  it('catches mails with any login, keeps them as files and tells about them', async () => {
    const dir = folderWith();
    const { box, caught } = await mailbox(dir);
    const auth = { user: 'anybody', pass: 'anything' };
    const smtp = { host: '127.0.0.1', port: box.mail.port, auth };
    const params = {
      ...mail,
      smtp,
      bcc: 'bcc@example.com',
      subject: 'Grüße: Order / 7',
      html: '<b>ü</b>',
    };
    expect(await run('mail-smtp', params)).toMatchObject({ kind: 'done' });
    expect(await run('mail-smtp', { ...mail, smtp })).toMatchObject({ kind: 'done' });
    const [first, second] = caught;
    expect(first).toMatchObject({
      from: '"Shop" <shop@example.com>',
      to: ['ann@example.com', 'bcc@example.com'],
      subject: 'Grüße: Order / 7',
      html: '<b>ü</b>',
      file: join(dir, 'mail', '1-gru-e-order-7.eml'),
    });
    expect(first?.text.trim()).toBe('x');
    expect(readFileSync(first?.file ?? '', 'utf8')).toContain('To: ann@example.com');
    expect(second?.file).toBe(join(dir, 'mail', '2-mail.eml'));
  });

  it('keeps the text beside it with whole lines, so that links can be copied', async () => {
    const dir = folderWith();
    const { box } = await mailbox(dir);
    const smtp = { host: '127.0.0.1', port: box.mail.port };
    const link = `http://127.0.0.1:4000/_tws/answer/${'Tk9='.repeat(40)}`;
    await run('mail-smtp', { ...mail, smtp, subject: 'Ask', text: `Please answer: ${link}` });
    const read = (name: string): string => readFileSync(join(dir, 'mail', name), 'utf8');
    expect(read('1-ask.eml')).not.toContain(link);
    expect(read('1-ask.txt')).toBe(
      `From: "Shop" <shop@example.com>\nTo: ann@example.com\nSubject: Ask\n\nPlease answer: ${link}\n`,
    );
    const modes = ['eml', 'txt'].map((type) => statSync(join(dir, `mail/1-ask.${type}`)).mode);
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o600]);
  });

  it('goes on counting after a new start', async () => {
    const dir = folderWith({ 'mail/41-old.eml': '', 'mail/notes.txt': '' });
    const { box, caught } = await mailbox(dir);
    const smtp = { host: '127.0.0.1', port: box.mail.port };
    await run('mail-smtp', { ...mail, smtp, subject: 'new' });
    expect(caught[0]?.file).toBe(join(dir, 'mail', '42-new.eml'));
  });

  it('takes uploads, and keeps them over a new start', async () => {
    const dir = folderWith();
    const { box } = await mailbox(dir);
    const upload = (endpoint = '') =>
      run('s3-upload', {
        s3: { endpoint, path_style: true, auth: bucketCredentials },
        bucket: 'files',
        key: 'a.txt',
        body: 'text',
      });
    expect(await upload(box.s3?.endpoint)).toMatchObject({ kind: 'done' });
    await box.stop();
    const { box: again } = await mailbox(dir);
    expect(await upload(again.s3?.endpoint)).toMatchObject({ kind: 'done' });
  });
});

describe('a port that is in use', () => {
  async function usedPort(): Promise<number> {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    return (other.address() as AddressInfo).port;
  }

  it('is told for the bucket server', async () => {
    const port = await usedPort();
    await expect(startBucketServer({ port, dir: folderWith() })).rejects.toMatchObject({
      code: 'mailbox_port_taken',
    });
  });

  it('is told for the mail server', async () => {
    const port = await usedPort();
    const started = startMailbox({ port, dir: folderWith(), onMail: () => undefined });
    await expect(started).rejects.toMatchObject({ code: 'mailbox_port_taken' });
  });
});
