import { openStore } from '../src/store/store.js';
import { preciseNow, type Bench } from './bench.js';
import { startEngines } from './engines.js';
import { definitions, newJobs, storeAll } from './project.js';
import type { NewDocument } from '../src/store/writer.js';

/** What one step costs in jobs of different lengths, each job alone. */
export async function steps({ server, options, say }: Bench): Promise<void> {
  const connection = await server.database('project');
  await storeAll(connection, definitions(...new Set([10, ...options.steps])));
  const { slots, profile } = options;
  const engines = await startEngines({ connection, size: 1, slots, profile });
  const store = openStore(connection);
  const run = async (length: number): Promise<{ readonly ms: number; readonly id: string }> => {
    const [job] = newJobs(1, length) as [NewDocument];
    const ended = engines.ends(1);
    const began = preciseNow();
    await store.write(job);
    return { ms: (await ended) - began, id: job._id };
  };
  for (let n = 0; n < 5; n += 1) await run(10);
  for (const length of options.steps) {
    const [before] = await engines.usage();
    const { ms, id } = await run(length);
    const [after] = await engines.usage();
    const bytes = Buffer.byteLength(JSON.stringify(await store.get(id)));
    const engineCpuMs = ((after?.cpuMs ?? NaN) - (before?.cpuMs ?? NaN)) / length;
    const conditions = { steps: length, finalBytes: bytes, engineCpuMs };
    say({ figure: 'cost per step', value: ms / length, unit: 'ms', ...conditions });
  }
  await engines.stop();
  await store.close();
  await server.remove(connection);
}
