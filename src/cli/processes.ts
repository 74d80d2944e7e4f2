import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Config } from '../config/load.js';
import { variables } from '../config/table.js';
import type { Log } from '../log.js';
import { engineArguments } from './engine-settings.js';
import type { Io } from './io.js';
import { executable } from '../package.js';

export type Processes = {
  readonly config: Config;
  /** The databases that each of them follows. */
  readonly databases: readonly string[];
  readonly count: number;
  readonly name: string | undefined;
  readonly log: Log;
};

/**
 * Runs `count` engines, each a process of its own, until all have ended. An engine that ends by
 * itself is not replaced: whatever supervises this command restarts it. The exit status is the
 * first one that is not 0.
 */
export async function startProcesses(wanted: Processes, io: Io): Promise<number> {
  const { config, databases, count, name, log } = wanted;
  const children = Array.from({ length: count }, (_, i) =>
    startOne(
      config,
      { databases, name: name === undefined ? undefined : `${name}-${i + 1}`, log },
      io,
    ),
  );
  const forward = (): void => {
    for (const { child } of children) child.kill('SIGTERM');
  };
  io.stop.addEventListener('abort', forward);
  io.force.addEventListener('abort', forward);
  if (io.stop.aborted) forward();
  try {
    const statuses = await Promise.all(children.map(({ ended }) => ended));
    return statuses.find((status) => status !== 0) ?? 0;
  } finally {
    io.stop.removeEventListener('abort', forward);
    io.force.removeEventListener('abort', forward);
  }
}

type Started = { readonly child: ChildProcess; readonly ended: Promise<number> };

/**
 * In a process group of its own, so that Ctrl-C reaches it through its parent only, and with a
 * channel, so that it notices when the parent is gone.
 */
function startOne(
  config: Config,
  { databases, name, log }: Pick<Processes, 'databases' | 'name' | 'log'>,
  io: Io,
): Started {
  const { url, app, root } = config;
  const args = [
    ...['start', '--url', url, '--app', app],
    ...databases.flatMap((database) => ['--database', database]),
    ...(name === undefined ? [] : ['--name', name]),
    ...engineArguments(config),
    ...(io.mode === 'text' ? [] : [`--${io.mode}`]),
  ];
  const child = spawn(process.execPath, [executable(), ...args], {
    cwd: root,
    // Names and passwords go by the environment, where other users cannot read them.
    env: { ...io.env, ...credentialsOf(config), ...exposureOf(config) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  const ended = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => {
    if (code !== 0) log.warn({ pid: child.pid, code, signal }, 'An engine has ended.');
    return typeof code === 'number' ? code : 1;
  });
  return { child, ended };
}

/** An engine does not know that this process serves the API. */
function exposureOf({ egress }: Config): Readonly<Record<string, string>> {
  return egress.exposed ? { [variables.exposed.variable]: '1' } : {};
}

function credentialsOf({ user, password }: Config): Readonly<Record<string, string>> {
  if (user === undefined) return {};
  return { COUCH_USER: user, COUCH_PASS: password ?? '', COUCH_KEY: '' };
}
