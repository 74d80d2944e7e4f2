/* One engine as a process of its own; it is asked by messages and ends with its parent. */
import { startEngine, type Engine } from '../src/engine/engine.js';
import type { Log } from '../src/engine/log.js';
import { loadPlugins } from '../src/plugin/loader.js';
import { watchBlocks, type Block } from './blocks.js';
import { openCountedStore, type CountedStore } from './counted-store.js';
import type { Answer, Question, Usage } from './engine-messages.js';

const silent = (): void => undefined;
const complain = (about: Readonly<Record<string, unknown>>, message: string): void => {
  process.stderr.write(`engine: ${message} ${JSON.stringify(about)}\n`);
};
const log: Log = { debug: silent, info: silent, warn: complain, error: complain };
const quiet: Log = { ...log, warn: silent, error: silent };

let engine: Engine | undefined;
let counted: CountedStore | undefined;
let finals = 0;
let longestBlock: (() => Block) | undefined;

process.on('message', (question: Question) => {
  answerTo(question).then(tell, (error: unknown) => {
    tell({ answer: 'failed', message: error instanceof Error ? error.message : String(error) });
  });
});
process.on('disconnect', () => process.exit());

async function answerTo(question: Question): Promise<Answer> {
  switch (question.ask) {
    case 'start': {
      const began = performance.now();
      const { folder } = question;
      const folders = folder === undefined ? [] : [folder];
      const plugins = await loadPlugins({ folders, log: complainOf });
      counted = openCountedStore(question.connection, countFinal);
      const { slots } = question;
      engine = await startEngine({
        ...{ store: counted.store, plugins, cwd: process.cwd(), slots },
        retry: { delay: 0 },
        log: question.quiet ? quiet : log,
      });
      return { answer: 'start', ms: performance.now() - began };
    }
    case 'count':
      if (counted === undefined) throw new Error('The engine has not started.');
      return { answer: 'count', counts: counted.take(question.bodies) };
    case 'usage':
      return { answer: 'usage', usage: usage(question.collect) };
    case 'block':
      longestBlock ??= watchBlocks();
      return { answer: 'block', block: longestBlock() };
    case 'stop':
      await engine?.stop();
      await counted?.store.close();
      return { answer: 'stop' };
  }
}

function complainOf(message: string, data: Readonly<Record<string, unknown>> = {}): void {
  complain(data, message);
}

/** Ends that come in one turn of the event loop are told together. */
function countFinal(): void {
  finals += 1;
  if (finals > 1) return;
  const at = performance.timeOrigin + performance.now();
  setImmediate(() => {
    tell({ answer: 'finals', count: finals, at });
    finals = 0;
  });
}

/** Garbage is collected more than once: what one round finalises the next one frees. */
function usage(collect: boolean): Usage {
  const { user, system } = process.cpuUsage();
  for (let round = 0; collect && round < 3; round += 1) global.gc?.();
  const { rss, heapUsed: heap } = process.memoryUsage();
  return { rss, heap, cpuMs: (user + system) / 1000 };
}

/** Nobody is told of ends that come after the process that asks has gone. */
function tell(answer: Answer): void {
  if (process.connected) process.send?.(answer);
}
