import { readDesign } from '../src/store/design-source.js';
import { jobUpdates } from '../src/store/guard-cost.js';
import type { Bench } from './bench.js';
import { storeAll } from './project.js';

const guards = ['none', 'shipped', 'changed'] as const;
/** Of each guard, in all. */
const wantedMs = 6_000;
/** Of each guard at a time: long enough for the clock of processor time, which counts in 10 ms. */
const turnMs = 1_000;

/** Updates of the same jobs without a guard, with the shipped one, and with one that is not byte for byte so. */
export async function guard({ server, say }: Bench): Promise<void> {
  const { validate_doc_update: text = '' } = await readDesign('guard');
  const rows = [];
  for (const name of guards) {
    const connection = await server.database('plain');
    const validate = name === 'shipped' ? text : text.replace('{', '{ /* changed */');
    const design = { _id: '_design/tws_guard', language: 'javascript' };
    if (name !== 'none') {
      await storeAll(connection, [{ ...design, validate_doc_update: validate }]);
    }
    const write = jobUpdates(connection);
    for (let warm = 0; warm < 5; warm += 1) await write();
    rows.push({ name, connection, write, documents: 0, ms: 0, cpuMs: 0 });
  }
  for (let turn = 0; turn < wantedMs / turnMs; turn += 1) {
    for (const row of turn % 2 === 0 ? rows : [...rows].reverse()) {
      const began = performance.now();
      const cpuBefore = server.cpuMs();
      while (performance.now() - began < turnMs) row.documents += await row.write();
      row.cpuMs += server.cpuMs() - cpuBefore;
      row.ms += performance.now() - began;
    }
  }
  const [none] = rows;
  for (const row of rows) {
    const rate = (of: typeof row): number => (of.documents * 1000) / of.ms;
    const cpu = (of: typeof row): number => of.cpuMs / of.documents;
    const base = none ?? row;
    const { name, documents } = row;
    const conditions = { guard: name, of: documents };
    say({
      ...{ figure: 'documents', value: rate(row), unit: '/s', ...conditions },
      ratio: rate(row) / rate(base),
    });
    say({
      ...{ figure: 'cpu', value: cpu(row), unit: 'ms', ...conditions },
      ratio: cpu(row) / cpu(base),
    });
    await server.remove(row.connection);
  }
}
