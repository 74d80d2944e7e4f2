import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { task } from '../cli/terminal.js';
import { openOjs } from '../http/ojs-api.js';
import { findProgram } from '../../bench/programs.js';
import { skipNote } from '../support/programs.js';

const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/workers.md'), 'utf8');

/** The worker of a language, as the guide prints it. */
function printed(language: string): string {
  const source = new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(guide)?.[1];
  if (source === undefined) throw new Error(`The guide has no worker in ${language}.`);
  return source;
}

it.for([
  ['python', 'python3', ['worker.py'], 'worker.py'],
  ['go', 'go', ['run', 'worker.go'], 'worker.go'],
] as const)(
  'the worker in %s does jobs as it is printed',
  async ([language, program, args, file], { skip }) => {
    const found = findProgram(program);
    // Also in continuous integration: nothing else needs these programs.
    if (found === undefined) return skip(skipNote([program]));
    const api = await openOjs();
    await api.put(task('ojs', { plugin: 'worker' }));
    await writeFile(join(api.folder, file), printed(language));
    const worker = spawn(found, [...args, api.url, 'default'], {
      cwd: api.folder,
      stdio: 'ignore',
      // `go run` starts the worker as a process of its own: the whole group is ended.
      detached: true,
    });
    onTestFinished(() => void process.kill(-(worker.pid ?? 0), 'SIGKILL'));
    const good = await api.enqueue({ type: 'email.send', args: ['ada'] });
    const bad = await api.enqueue({ type: 'other.work', args: [], retry: { max_attempts: 1 } });
    expect((await api.ended(good.id)).steps).toMatchObject([{ result: { sent_to: 'ada' } }]);
    expect(await api.ended(bad.id)).toMatchObject({ exit: 2 });
  },
);
