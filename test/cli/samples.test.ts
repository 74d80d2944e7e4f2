import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openProject } from './database.js';
import { tws } from './executable.js';

const guide = readFileSync(new URL('../../docs/guides/structures.md', import.meta.url), 'utf8');

/** The commands that the guide to structures prints below "One sample of each", as lists of arguments. */
function printed(): readonly (readonly string[])[] {
  const [, after = ''] = guide.split('## One sample of each');
  const [, block = ''] = after.split(/```sh[^\n]*\n/);
  const lines = block.split('\n').filter((line) => line.startsWith('tws '));
  return lines.map((line) => {
    const words = line.replace(/ +#.*$/, '').match(/'[^']*'|\S+/g) ?? [];
    return words.slice(1).map((word) => word.replace(/^'(.*)'$/, '$1'));
  });
}

/** Exits other than 0, by sample: that of the saga is its point. */
const exits: Readonly<Record<string, number>> = { '~tws/jobs/saga.json': 2 };

describe('the samples of structures', () => {
  it('run on two engine processes by the commands of the guide', async () => {
    const { root, env, store } = await openProject();
    const call = async (args: readonly string[]): Promise<number | NodeJS.Signals> => {
      const called = tws(args, { cwd: root, env });
      const exit = await called.ended;
      expect(called.err(), args.join(' ')).not.toMatch(/\n +at /);
      return exit;
    };
    expect(await call(['push', '--samples'])).toBe(0);
    const engines = tws(['start', '--engines', '2', '--slots', '3'], { cwd: root, env });
    await engines.prints(/follows[^]*follows/);
    const commands = printed();
    expect(commands.length).toBeGreaterThanOrEqual(7);
    for (const args of commands) {
      expect(await call(args), args.join(' ')).toBe(exits[args[1] ?? ''] ?? 0);
    }
    engines.kill('SIGTERM');
    expect(await engines.ended).toBe(0);
    const jobs = await store.view('jobs', { includeDocs: true });
    const steps = jobs.flatMap(({ doc }) => (doc?.['steps'] ?? []) as { engine?: string }[]);
    // Which of the two takes a step is left to chance: one that is slow for a while may get none.
    expect([1, 2]).toContain(new Set(steps.flatMap(({ engine }) => engine ?? [])).size);
  });
});
