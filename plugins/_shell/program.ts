import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pluginProblem } from '../../src/plugin/index.js';

/** What is started. */
export type ProgramCall = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string | undefined;
  /** Bytes of stdout, and of stderr. */
  readonly most: number;
  /** The idempotency key of the step, for the program. */
  readonly key: string;
};

/** How a program ended. */
export type ProgramEnd = {
  readonly exit: number | undefined;
  /** The signal that ended it. */
  readonly signal?: string;
  readonly stdout: string;
  readonly stderr: string;
  /** It wrote more than it may, and was ended for it. */
  readonly isTooLoud: boolean;
};

/** After being asked to end, a program has so long before it is killed, ms. */
const graceMs = 1_000;

/**
 * Runs a program to its end. When the signal aborts, or it writes too much, it is ended with everything that it
 * has started. Whatever it leaves behind when it ends by itself is ended as well.
 * @throws PluginError `ProgramMissing`, or the reason of the signal
 */
export async function runProgram(call: ProgramCall, signal: AbortSignal): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const { command, cwd, env, input, key } = call;
  const [program = '', ...args] = command;
  const mark = randomUUID();
  // A group of its own, so that all of it can be ended; the mark finds what has left the group.
  const child = spawn(program, args, {
    cwd,
    env: { ...env, TWS_KEY: key, TWS_PROGRAM: mark },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let ending: Promise<void> | undefined;
  const end = (): void => void (ending ??= endAll(child.pid, mark));
  const output = gather(child, call.most, end);
  signal.addEventListener('abort', end, { once: true });
  try {
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
    const how = await ended(child, program);
    await (ending ?? endAll(child.pid, mark, 0));
    signal.throwIfAborted();
    return { ...how, ...output() };
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Resolves when the program itself has ended, whoever still holds its stdout. */
function ended(child: ChildProcess, program: string): Promise<Pick<ProgramEnd, 'exit' | 'signal'>> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        pluginProblem('ProgramMissing', { program, reason: error.code ?? error.message }, error),
      ),
    );
    child.once('exit', (code, by) => {
      const how = by === null ? { exit: code ?? undefined } : { exit: undefined, signal: by };
      // What it wrote last may still be on its way.
      const done = (): void => resolve(how);
      child.once('close', done);
      setTimeout(done, 200).unref();
    });
  });
}

/** Gathers what a program writes. */
function gather(child: ChildProcess, most: number, tooLoud: () => void) {
  const parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  let isTooLoud = false;
  for (const name of ['stdout', 'stderr'] as const) {
    let bytes = 0;
    child[name]?.on('data', (part: Buffer) => {
      if (isTooLoud) return;
      bytes += part.length;
      parts[name].push(part);
      if (bytes <= most) return;
      isTooLoud = true;
      tooLoud();
    });
  }
  const text = (name: 'stdout' | 'stderr'): string =>
    Buffer.concat(parts[name]).subarray(0, most).toString('utf8');
  return () => ({ stdout: text('stdout'), stderr: text('stderr'), isTooLoud });
}

/** Asks the group of a program to end, and kills what is left of it and of what has left it. */
async function endAll(pid: number | undefined, mark: string, patienceMs = graceMs): Promise<void> {
  if (pid === undefined) return;
  if (patienceMs > 0 && send(-pid, 'SIGTERM')) await untilGone(pid, patienceMs);
  send(-pid, 'SIGKILL');
  // What is killed may have started more.
  for (let round = 0; round < 5; round += 1) {
    const left = await marked(mark);
    if (left.length === 0) return;
    for (const one of left) send(one, 'SIGKILL');
    await sleep(10);
  }
}

async function untilGone(pid: number, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() < until && send(-pid, 0)) await sleep(20);
}

/** Sends a signal; false: there is nobody. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Processes that carry the mark in their environment, on a system that shows it. */
async function marked(mark: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return text.includes(mark) ? [pid] : [];
    }),
  );
  return found.flat();
}
