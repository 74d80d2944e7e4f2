import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const dist = (file: string): string =>
  fileURLToPath(new URL(`../../../dist/src/engine/watch/${file}`, import.meta.url));

/** Runs a program in which the watchdog watches, with a lease of a second; until it ends. */
async function watched(work: string): Promise<{ readonly status: unknown; readonly log: string }> {
  const program = `
    import { startWatchdog } from ${JSON.stringify(dist('watchdog.js'))};
    import { setTimeout as sleep } from 'node:timers/promises';
    const connection = { url: 'http://127.0.0.1:9', user: 'u', password: 'p', database: 'd', app: 'tws' };
    const watchdog = startWatchdog({ connection, leaseMs: 1_000, isTerminal: false });
    import { execFileSync } from 'node:child_process';
    // Waits in the system, where nobody can ask what it does.
    const wait = () => execFileSync(process.execPath, ['-e', 'setTimeout(() => {}, 6_000)']);
    await sleep(1_500);
    ${work}
    await sleep(200);
    await watchdog.stop();
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const [ended, log] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  const [code, signal] = ended as readonly unknown[];
  return { status: signal ?? code, log };
}

it('ends no process whose main thread waits and in which no plugin runs', async () => {
  const { status, log } = await watched('wait();');
  expect(log).toContain('Something that is no plugin may have blocked');
  expect(status).toBe(0);
});

it('ends no process for a decision that gets no processor', async () => {
  const { status } = await watched("watchdog.onDecide('job-1'); wait();");
  expect(status).toBe(0);
});

// Shows E-06.
it('ends a process for a decision that never ends', async () => {
  const { status, log } = await watched("watchdog.onDecide('job-1'); for (;;);");
  expect(log).toContain('A decision about job job-1 blocked its engine');
  expect(status).toBe('SIGKILL');
});
