import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Connection } from '../src/store/connection.js';
import type { Block } from './blocks.js';
import type { Answer, Counts, Question, Usage } from './engine-messages.js';

/** Engine processes that share one database. */
export type Engines = {
  readonly size: number;
  /** How long each took from loading its plugins to following the feed, ms. */
  readonly bootMs: readonly number[];
  /** Resolves with the time (epoch ms) of the last of so many ends of jobs, counted from now. */
  readonly ends: (count: number) => Promise<number>;
  /** What each counted since the last time. `bodies`: from now on they keep what they send. */
  readonly counts: (bodies: boolean) => Promise<readonly Counts[]>;
  /** `collect`: after their garbage was collected. */
  readonly usage: (how?: 'collect') => Promise<readonly Usage[]>;
  /** The longest block of the event loop of each since the last time. */
  readonly blocks: () => Promise<readonly Block[]>;
  /** Ends them in order. */
  readonly stop: () => Promise<void>;
};

type EngineOptions = {
  readonly connection: Connection;
  readonly size: number;
  readonly slots: number;
  readonly profile: string | undefined;
  /** Where plugins are, beside those that are shipped. */
  readonly folder?: string;
  /** Whether the engines keep their warnings to themselves: failing jobs are wanted. */
  readonly quiet?: boolean;
};

/** So long engines that have just started take to hear of each other, ms. */
const acquaintanceMs = 500;

/** Starts so many engine processes and waits until all follow the feed and know each other. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const { connection, size, slots, profile, folder, quiet = false } = options;
  const watch = watchEnds();
  const children = Array.from({ length: size }, () => startChild(profile, watch.told));
  try {
    const started = await Promise.all(
      children.map((child) => child.ask({ ask: 'start', connection, slots, folder, quiet })),
    );
    await sleep(acquaintanceMs);
    return {
      size,
      bootMs: started.map(({ ms }) => ms),
      ends: watch.ends,
      counts: async (bodies) => {
        const answers = children.map((child) => child.ask({ ask: 'count', bodies }));
        return (await Promise.all(answers)).map(({ counts }) => counts);
      },
      usage: async (how) => {
        const collect = how === 'collect';
        const answers = children.map((child) => child.ask({ ask: 'usage', collect }));
        return (await Promise.all(answers)).map(({ usage }) => usage);
      },
      blocks: async () => {
        const answers = children.map((child) => child.ask({ ask: 'block' }));
        return (await Promise.all(answers)).map(({ block }) => block);
      },
      stop: async () => {
        await Promise.all(children.map((child) => child.ask({ ask: 'stop' })));
        await Promise.all(children.map((child) => child.end()));
      },
    };
  } catch (error) {
    await Promise.all(children.map((child) => child.end()));
    throw error;
  }
}

function watchEnds() {
  let seen = 0;
  let target = Infinity;
  let reached: (at: number) => void = () => undefined;
  return {
    told: (count: number, at: number): void => {
      seen += count;
      if (seen >= target) reached(at);
    },
    ends: (count: number): Promise<number> => {
      seen = 0;
      target = count;
      return new Promise((resolve) => (reached = resolve));
    },
  };
}

type Answered<A extends Question['ask']> = Extract<Answer, { readonly answer: A }>;

type Child = {
  readonly ask: <A extends Question['ask']>(
    question: Extract<Question, { readonly ask: A }>,
  ) => Promise<Answered<A>>;
  readonly end: () => Promise<void>;
};

function startChild(
  profile: string | undefined,
  onFinals: (count: number, at: number) => void,
): Child {
  const file = fileURLToPath(new URL('engine-process.js', import.meta.url));
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const child = fork(file, { execArgv: ['--expose-gc', ...profiling] });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.on('message', (message: Answer) => {
    if (message.answer === 'finals') onFinals(message.count, message.at);
  });
  return {
    ask: async (question) => {
      const answer = nextAnswer(child);
      child.send(question);
      return (await answer) as never;
    },
    end: async () => {
      if (child.connected) child.disconnect();
      await gone;
    },
  };
}

/** The answer to the question that is open; a process has only one at a time. */
function nextAnswer(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const exited = (code: number | null, signal: string | null): void => {
      child.off('message', heard);
      const how = signal === null ? `exit status ${String(code)}` : signal;
      reject(new Error(`An engine process ended before it answered (${how}).`));
    };
    const heard = (message: Answer): void => {
      if (message.answer === 'finals') return;
      child.off('message', heard);
      child.off('exit', exited);
      if (message.answer === 'failed') reject(new Error(message.message));
      else resolve(message);
    };
    child.on('message', heard);
    child.once('exit', exited);
  });
}
