import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { createPulse, openDatabase, type Client, type Explained } from '../../client.js';
import { eventReasons, explainChain } from '../../client-rules.js';
import type { StoredDocument } from '../../model/document.js';
import { asVersion, versionName } from '../../model/flow-versions.js';
import { originOf, originSentence } from '../../reading/origin.js';
import { textOf } from '../../words.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { statusLine } from '../jobs.js';
import { jobIdOf } from '../naming.js';
import { plain } from '../safe.js';

/** `tws explain`: why a job does not move, and what to do about it; or what an event has started. */
export const explain = defineCommand(z.object({}), async ({ args, config: read }, io) => {
  const config = read();
  const { client, close } = openDatabase(config);
  try {
    const named = await client.get(args[0] ?? '');
    const sentences = named && (await eventReasons(named, client.get, Date.now()));
    if (named !== undefined && sentences !== undefined) {
      io.out(plain(named._id));
      for (const because of sentences) io.out(`  ${plain(because)}`);
      io.json([{ id: named._id, reasons: sentences.map((because) => ({ because })) }]);
      return 0;
    }
    const id = await jobIdOf(args[0] ?? '', client, io);
    const chain = await explainChain(id, {
      look: (one) => patiently(client, one, config.leaseMs, io),
      isThere: async (child) => (await client.get(child))?.['type'] === 'job',
    });
    for (const { job, reasons } of chain) {
      io.out(statusLine(job, io, 'stdout'));
      const origin = originOf(job);
      if (origin !== undefined) io.out(`  ${plain(originSentence(origin))}`);
      const version = asVersion(job['flow_version']);
      if (version !== undefined) io.out(`  ${plain(versionSentence(job, version))}`);
      for (const { because, todo } of reasons) {
        io.out(`  ${plain(because)}${todo === undefined ? '' : ` ${plain(todo)}`}`);
      }
    }
    io.json(
      chain.map(({ job, reasons }) => {
        const origin = originOf(job);
        const more = origin === undefined ? {} : { origin };
        return { id: job._id, state: job['state'] ?? null, ...more, reasons };
      }),
    );
    return 0;
  } finally {
    await close();
  }
});

/** Says which version of its flow a job runs; one that has not begun is to run it. */
function versionSentence({ state, flow }: StoredDocument, version: string): string {
  const runs = state === undefined ? 'It will run' : 'It runs';
  return `${runs} ${versionName(version)} of flow "${textOf(flow ?? '')}".`;
}

/** How long between two looks at the engines, ms. */
const lookMs = 1_000;

/** No engine is said to be dead by the clock of its machine alone: its document is watched first. */
async function patiently(
  client: Client,
  id: string,
  leaseMs: number | undefined,
  io: Io,
): Promise<Explained> {
  const pulse = createPulse(leaseMs);
  for (let isShown = false; ; isShown = true) {
    const explained = await client.explain(id, pulse);
    const doubtful = explained.reasons.some(
      ({ kind }) => kind === 'no_engine' || kind === 'engine_lost',
    );
    if (!doubtful || explained.settled || io.stop.aborted) return explained;
    if (!isShown) io.say('Watching the engines for a sign of life …');
    await sleep(lookMs, undefined, { signal: io.stop }).catch(() => undefined);
  }
}
