import type { Client } from '../../client.js';
import { problem } from '../../errors.js';
import { defaultOwner, pluginOf, type Task } from '../../model/task.js';
import { workOptionsOf } from '../../model/work.js';
import type { Api } from '../api.js';
import type { Target } from './order.js';
import type { OjsOrder } from './schemas.js';

/** What the types of jobs name. @throws TwsError `ojs_type_unknown` */
export async function targetsOf(
  api: Api,
  orders: readonly OjsOrder[],
  owner: string,
): Promise<ReadonlyMap<string, Target>> {
  const types = [...new Set(orders.map(({ type }) => type))];
  return new Map(
    await Promise.all(
      types.map(async (type) => [type, await targetOfType(api, type, owner)] as const),
    ),
  );
}

/** The task that takes jobs of every other type. */
const otherTypes = 'ojs';

/**
 * What a type names: a flow, else a task, else the task "ojs", of that owner or of DEFAULT.
 * @throws TwsError `ojs_type_unknown`
 */
export async function targetOfType({ client }: Api, type: string, owner: string): Promise<Target> {
  const wanted = { type, owner };
  // Nobody is told that there is nothing unless the database was just asked.
  const target = (await targetIn(client.findKept, wanted)) ?? (await targetIn(client.find, wanted));
  if (target === undefined) throw problem('ojs_type_unknown', wanted);
  return target;
}

async function targetIn(
  find: Client['find'],
  { type, owner }: { readonly type: string; readonly owner: string },
): Promise<Target | undefined> {
  const found = async (kind: 'flow' | 'task', name: string) => {
    const owners = [...new Set([owner, defaultOwner])];
    const docs = await Promise.all(owners.map((one) => find(kind, name, one)));
    return docs.find(([doc]) => doc !== undefined)?.[0];
  };
  const [flow, own, other] = await Promise.all([
    found('flow', type),
    found('task', type),
    found('task', otherTypes),
  ]);
  if (flow !== undefined) return { kind: 'flow' };
  const task = own ?? other;
  if (task === undefined) return undefined;
  return {
    kind: 'task',
    name: own === undefined ? otherTypes : type,
    isWork: task['flow'] === undefined && pluginOf(task as unknown as Task) === 'worker',
    hasRetry: task['retry'] !== undefined,
    hasLease: workOptionsOf(task['params']).lease !== undefined,
    byType: own === undefined,
  };
}
