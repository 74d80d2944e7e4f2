import { randomUUID } from 'node:crypto';
import { bulkSender } from '../src/store/batch.js';
import type { Connection } from '../src/store/connection.js';
import type { NewDocument } from '../src/store/writer.js';

/** Flow `steps-<n>`: so many steps that do nothing. */
export const flowName = (steps: number): string => `steps-${steps}`;

/** The documents that jobs of so many steps need. */
export function definitions(...lengths: readonly number[]): readonly NewDocument[] {
  const task = { _id: 'task:noop', type: 'task', name: 'noop', plugin: 'noop' };
  const flows = lengths.map((steps) => ({
    _id: `flow:${flowName(steps)}`,
    type: 'flow',
    name: flowName(steps),
    owner: 'bench',
    timeout: 0,
    tasks: Array.from({ length: steps }, (_, i) => ({ task: 'noop', name: `step-${i}` })),
  }));
  return [task, ...flows];
}

/** New jobs of so many steps. */
export function newJobs(count: number, steps: number, settings: object = {}): NewDocument[] {
  return Array.from({ length: count }, () => ({
    _id: randomUUID(),
    type: 'job',
    flow: flowName(steps),
    owner: 'bench',
    ...settings,
  }));
}

/** Stores documents, at most 1,000 in a request. @throws Error when one of them is refused */
export async function storeAll(
  connection: Connection,
  docs: readonly NewDocument[],
): Promise<readonly string[]> {
  const send = bulkSender(connection);
  const revs: string[] = [];
  for (let from = 0; from < docs.length; from += 1_000) {
    const answer = await send(JSON.stringify({ docs: docs.slice(from, from + 1_000) }));
    revs.push(...revisionsOf(answer));
  }
  return revs;
}

/** The revisions of an answer to `_bulk_docs`. @throws Error unless every document was stored */
export function revisionsOf(answer: Awaited<ReturnType<ReturnType<typeof bulkSender>>>): string[] {
  if (answer.kind === 'failed') throw new Error(`_bulk_docs: ${answer.cause}`);
  const rows = answer.body as readonly { readonly rev?: string }[];
  return rows.map(({ rev, ...row }) => {
    if (rev === undefined) throw new Error(`_bulk_docs: ${JSON.stringify(row)}`);
    return rev;
  });
}
