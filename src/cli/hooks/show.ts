import type { Client } from '../../client.js';
import type { StoredDocument } from '../../model/document.js';
import { hookEngineKeys, readRefused, type RefusedDeliveries } from '../../model/hook.js';
import { isSecretName } from '../../model/secret-names.js';
import { isObject } from '../../model/object.js';
import { counted, momentFrom } from '../../words.js';
import type { Io } from '../io.js';
import { plain } from '../safe.js';
import { problemSentences, noteSentences } from '../schedules-and-hooks.js';
import { tableLines } from '../table.js';
import { hookColour, hookFacts, type HookFacts } from './facts.js';

const head = ['NAME', 'OWNER', 'FLOW', 'CHECK', 'STATUS', 'ADDRESS', 'ID'];

/** Prints all hooks by name, or those of an owner. Returns them for JSON. */
export async function printHooks(
  client: Client,
  owner: string | undefined,
  io: Io,
): Promise<readonly HookFacts[]> {
  const docs = await client.hooks(owner === undefined ? undefined : [owner]);
  const all = docs.map(hookFacts);
  const rows = all.map(({ id, name, owner: of, flow, check, status, path }) => [
    ...[name, of, flow, check].map((text) => ({ text })),
    { text: status, style: hookColour(status) },
    { text: `POST ${path}` },
    { text: id, style: 'dim' as const },
  ]);
  for (const line of tableLines(head, rows, io)) io.out(line);
  const whose = owner === undefined ? '' : ` of owner "${owner}"`;
  if (all.length === 0) io.say(`There is no hook${whose} yet; \`tws push\` stores some.`);
  return all;
}

/** Fields that the first lines show, and those that are not its author's. */
const elsewhere: ReadonlySet<string> = new Set([
  ...hookEngineKeys,
  ...['_id', '_rev', 'type', 'name', 'owner', 'flow', 'pushed_from'],
]);

/** Prints what a hook is, without its secrets. Returns the same for JSON. */
export async function showHook(client: Client, doc: StoredDocument, io: Io): Promise<unknown> {
  const facts = hookFacts(doc);
  const { name, owner, flow, status, path, id } = facts;
  const problems = problemSentences(doc);
  const notes = await noteSentences(client, doc);
  const shown = withoutSecrets(doc) as StoredDocument;
  io.out(
    `${name}::${owner} => ${flow} ${io.style(hookColour(status), status)} ${io.style('dim', `(${id})`)}`,
  );
  const say = (label: string, text: string): void => io.out(`  ${label.padEnd(9)}  ${text}`);
  say('address', `POST ${path}`);
  for (const [key, value] of Object.entries(shown)) {
    if (!elsewhere.has(key))
      say(key, plain(typeof value === 'string' ? value : JSON.stringify(value)));
  }
  const refused = readRefused(doc['refused']);
  if (refused !== undefined) say('refused', refusedText(refused));
  for (const text of problems) say('problem', io.style('red', plain(text)));
  for (const text of notes) say('note', io.style('yellow', plain(text)));
  return { ...facts, problems, notes, document: shown };
}

function refusedText({ count, at, status }: RefusedDeliveries): string {
  const what = status === 413 ? 'it was too long' : 'its sender had not proved itself';
  const latest = `the latest ${momentFrom(Date.now(), at)}, since ${what}`;
  return `${counted(count, 'delivery', 'deliveries')}, ${latest}`;
}

/** Nobody needs to see even the cipher texts. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const isOne = isSecretName(key) && (!isObject(item) || '$enc' in item);
      return [key, isOne ? '[secret]' : withoutSecrets(item)];
    }),
  );
}
