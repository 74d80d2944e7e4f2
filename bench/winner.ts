import { randomUUID } from 'node:crypto';
import { bulkSender, resultsOf } from '../src/store/batch.js';
import type { Bench } from './bench.js';
import { percentile, sum } from './figure.js';
import { storeAll } from './project.js';

const writers = 100;

/**
 * 100 writers claim the same revision at once, each by a request of its own: exactly one may win.
 * @throws Error when it is another number, or when the revision there is not the winner's
 */
export async function winner({ server, options, say }: Bench): Promise<void> {
  const connection = await server.database('plain');
  const send = bulkSender(connection);
  const winners: number[] = [];
  const tookMs: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const _id = randomUUID();
    const [_rev] = await storeAll(connection, [{ _id, type: 'job', state: '$$ready' }]);
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: writers }, (_, claim) =>
        send(JSON.stringify({ docs: [{ _id, _rev, type: 'job', claim }] })),
      ),
    );
    tookMs.push(performance.now() - began);
    const results = answers.map((answer) => resultsOf([_id], answer));
    winners.push(results.filter((rows) => rows !== 'split' && rows[0]?.kind === 'written').length);
  }
  await server.remove(connection);

  const conditions = { writers, rounds: options.rounds };
  const wrong = winners.filter((count) => count !== 1).length;
  say({
    figure: 'winners per race',
    value: sum(winners) / winners.length,
    unit: '',
    ...conditions,
  });
  say({ figure: 'races without exactly one winner', value: wrong, unit: '', ...conditions });
  say({ figure: 'race p50', value: percentile(tookMs, 0.5), unit: 'ms', ...conditions });
  if (wrong > 0) throw new Error(`${wrong} of ${options.rounds} races had not exactly one winner.`);
}
