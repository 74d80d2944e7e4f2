import { openStore } from '../src/store/store.js';
import { preciseNow, type Bench } from './bench.js';
import { startEngines } from './engines.js';
import { storeAll } from './project.js';
import type { NewDocument } from '../src/store/writer.js';

/** Items that one child job works on, and items at the same time: four slices. */
const slice = 100;
const limit = 4 * slice;
/** Beyond this a map in one job is not measured: every end of an item writes the whole job. */
const mostInOneJob = 500;

/** What one item of a map costs, in one job and by child jobs in slices. */
export async function map({ server, options, say }: Bench): Promise<void> {
  const connection = await server.database('project');
  await storeAll(connection, documents);
  const { slots, profile } = options;
  const engines = await startEngines({ connection, size: 1, slots, profile });
  const store = openStore(connection);
  const run = async (flow: string, items: number): Promise<number> => {
    const slices = flow === 'sliced' && items > slice ? Math.ceil(items / slice) : 0;
    const _id = `${flow}-${items}-${preciseNow()}`;
    const ended = engines.ends(1 + slices);
    const began = preciseNow();
    await store.write({ _id, type: 'job', flow, owner: 'bench', params: { items } });
    const ms = (await ended) - began;
    const job = await store.get(_id);
    if (job?.['exit'] !== 0) throw new Error(`Job ${_id} ended with ${JSON.stringify(job)}.`);
    return ms;
  };
  await run('whole', 100);
  for (const items of options.items) {
    for (const flow of items > mostInOneJob ? ['sliced'] : ['whole', 'sliced']) {
      const ms = await run(flow, items);
      const conditions = { items, slots, ...(flow === 'sliced' ? { slice } : {}) };
      say({ figure: `cost per item, ${flow}`, value: ms / items, unit: 'ms', ...conditions });
    }
  }
  await engines.stop();
  await store.close();
  await server.remove(connection);
}

const flow = (name: string, more: object): NewDocument => ({
  _id: `flow:${name}`,
  ...{ type: 'flow', name, owner: 'bench', timeout: 0 },
  ...more,
});

const documents: readonly NewDocument[] = [
  { _id: 'task:noop', type: 'task', name: 'noop', plugin: 'noop' },
  flow('whole', { tasks: { map: { over: '[1..params.items]', do: 'noop' } } }),
  flow('sliced', { tasks: { map: { over: '[1..params.items]', do: 'noop', slice, limit } } }),
];
