import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { tws } from '../cli/executable.js';
import { project } from '../cli/terminal.js';
import { needPrograms } from '../support/programs.js';

const run = promisify(execFile);

/** The shell commands of a section, in order. */
async function commandsOf(section: string): Promise<string> {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, text = ''] = readme.split(`\n## ${section}\n`);
  const [own = ''] = text.split('\n## ');
  return [...own.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code]) => code).join('\n');
}

describe('the README', () => {
  it('has commands for the HTTP API that run as they are printed', async () => {
    needPrograms('curl', 'bash');
    const dev = tws(['dev', '--port', '0', '--http', '127.0.0.1:0'], { cwd: await project() });
    await dev.prints(/Ctrl-C ends all/);
    const address = /HTTP API: +http:\/\/(\S+)\/_tws/.exec(dev.out())?.[1] ?? '';
    const printed = [await commandsOf('HTTP API'), await commandsOf('Open Job Spec')].join('\n');
    expect(printed).toContain('127.0.0.1:5985');
    // Every answer is to be a good one, but for the address nothing is changed.
    const script = [
      'set -euo pipefail',
      'curl() { command curl -sS --fail-with-body "$@"; local code=$?; echo; return $code; }',
      printed.replaceAll('127.0.0.1:5985', address),
    ].join('\n');
    const { stdout } = await run('bash', ['-c', script]);
    const said = [
      '"id":"task:DEFAULT:say"',
      'HTTP/1.1 201 Created',
      '"status":"succeeded"',
      '{"result":"Hello Ada"}',
      '"kind":"JobCompleted"',
      '"jobs":[{"id":"talk-1"',
      '"outcome":"applied"',
      '"submitted":1,"existed":0,"refused":1',
      '"succeeded":',
      'event: ready',
      '"token":"tws_',
      '"cursor"',
      '"type":"email.send"',
      '"jobs_extended":["',
      '"acknowledged":true',
      '"state":"completed"',
      '"completed_last_hour":',
      '"pagination":',
    ];
    for (const text of said) expect(stdout).toContain(text);
    dev.kill('SIGINT');
    expect(await dev.ended).toBe(0);
  });
});
