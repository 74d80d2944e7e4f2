import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { folderWith } from '../plugin/attempt.js';
import { run } from './shipped.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', text: 'x' };

afterEach(() => {
  delete process.env['TWS_SENDMAIL'];
});

/** A program of Node's, which every machine has that runs tests: it runs in its own folder. */
const head = `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
process.chdir(__dirname);
`;
const keepMail = "writeFileSync('mail', readFileSync(0));";
const keepArgs = "writeFileSync('args', process.argv.slice(2).join(' '));";

/**
 * The operator's program: it does this with its arguments and its input.
 * `args` are those that the operator gives it.
 */
function program(script: string, args = ''): { readonly path: string; readonly folder: string } {
  const folder = folderWith({ sendmail: `${head}${script}\n` });
  const path = join(folder, 'sendmail');
  chmodSync(path, 0o755);
  process.env['TWS_SENDMAIL'] = `${path} ${args}`;
  return { path, folder };
}

describe('mail-sendmail', () => {
  it('hands the mail to the program, recipients as arguments', async () => {
    const { folder } = program(keepArgs + keepMail);
    const params = {
      ...mail,
      html: '<b>{{results.x}}</b>',
      cc: 'cc@example.com',
      bcc: 'bcc@example.com',
    };
    expect(await run('mail-sendmail', params, { results: { x: '<' } })).toMatchObject({
      kind: 'done',
      result: { accepted: ['ann@example.com', 'cc@example.com', 'bcc@example.com'], rejected: [] },
    });
    expect(readFileSync(join(folder, 'args'), 'utf8').trim()).toBe(
      '-i -f shop@example.com ann@example.com cc@example.com bcc@example.com',
    );
    const sent = readFileSync(join(folder, 'mail'), 'utf8');
    expect(sent).toContain('<b>&lt;</b>');
    expect(sent).toContain('Cc: cc@example.com');
    expect(sent).not.toContain('bcc@example.com');
    expect(sent).not.toContain('\r');
  });

  it('gives the program the arguments of the operator', async () => {
    const { path, folder } = program(keepArgs + keepMail, '-oi -t');
    const params = { ...mail, transport: { path, newline: 'windows' } };
    expect(await run('mail-sendmail', params)).toMatchObject({ kind: 'done' });
    expect(readFileSync(join(folder, 'args'), 'utf8').trim()).toBe('-i -oi -t ann@example.com');
    expect(readFileSync(join(folder, 'mail'), 'utf8')).toContain('\r\n');
  });

  it.each([
    ['path', { path: '/bin/sh' }],
    ['path', { transport: { path: '/bin/sh' } }],
    ['args', { args: ['-X/tmp/x'] }],
    ['args', { transport: { path: '/usr/sbin/sendmail', args: [] } }],
  ])('takes no %s from parameters, which anybody may write: %j', async (name, more) => {
    const { folder } = program(keepMail);
    expect(await run('mail-sendmail', { ...mail, ...more })).toMatchObject({
      kind: 'failed',
      retryable: false,
      exit: 3,
      failure: {
        name: 'ProgramRefused',
        message: `The parameter ${name} cannot choose the program of a mail; set TWS_SENDMAIL where the engine runs.`,
      },
    });
    expect(existsSync(join(folder, 'mail'))).toBe(false);
  });

  it('lets parameters name a usual program, which the one of the operator stands for', async () => {
    const { folder } = program(keepMail);
    const params = { ...mail, transport: { path: '/usr/sbin/sendmail' } };
    expect(await run('mail-sendmail', params)).toMatchObject({ kind: 'done' });
    expect(existsSync(join(folder, 'mail'))).toBe(true);
  });

  it.each([
    [75, true],
    [67, false],
  ])('tells the retry policy what exit %i means', async (code, retryable) => {
    const { path } = program(
      `readFileSync(0); console.error('queue trouble'); process.exitCode = ${code};`,
    );
    expect(await run('mail-sendmail', mail)).toMatchObject({
      kind: 'failed',
      retryable,
      failure: {
        name: 'MailRefused',
        code,
        message: `The program ${path} ended with exit ${code}: queue trouble`,
      },
    });
  });

  it('says that the program is not there', async () => {
    process.env['TWS_SENDMAIL'] = '/no/such/sendmail';
    expect(await run('mail-sendmail', mail)).toMatchObject({
      kind: 'failed',
      retryable: false,
      failure: {
        name: 'MissingProgram',
        message: 'The program /no/such/sendmail is not installed on this machine.',
      },
    });
  });

  it('survives a program that does not read', async () => {
    program('process.exit(64)');
    const params = { ...mail, text: 'x'.repeat(1_000_000) };
    expect(await run('mail-sendmail', params)).toMatchObject({ failure: { code: 64 } });
  });

  it.each(['-C/etc/passwd@example.com', 'nobody', ' , '])(
    'starts nothing for the recipient %j',
    async (to) => {
      const { folder } = program(keepMail);
      expect(await run('mail-sendmail', { ...mail, to })).toMatchObject({
        kind: 'failed',
        retryable: false,
        failure: { name: 'MailRefused' },
      });
      expect(existsSync(join(folder, 'mail'))).toBe(false);
    },
  );

  it('starts nothing without a recipient', async () => {
    const { folder } = program(keepMail);
    expect(await run('mail-sendmail', { ...mail, to: '' })).toMatchObject({
      failure: { name: 'MailIncomplete' },
    });
    expect(existsSync(join(folder, 'mail'))).toBe(false);
  });

  it('ends the program when its signal aborts', async () => {
    program('setTimeout(() => {}, 60_000)');
    const signal = AbortSignal.timeout(200);
    expect(await run('mail-sendmail', mail, { signal })).toMatchObject({
      kind: 'failed',
      failure: { name: 'AbortError' },
    });
  });
});
