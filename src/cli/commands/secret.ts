import { addTo } from '../../model/grouped.js';
import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { namedSecretsIn } from '../../model/encrypted-values.js';
import {
  fieldsOfSecret,
  isSecretWord,
  secretText,
  valueField,
  type NamedSecret,
} from '../../model/named-secret.js';
import { ownerOf } from '../../model/task.js';
import { counted } from '../../words.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { confirming } from '../prompt.js';
import { keyringOf, valueFrom } from '../secrets/given.js';
import { rewriteDocuments } from '../secrets/rewrite.js';
import { tableLines } from '../table.js';

const flags = z.object({ confirm: z.boolean().default(true) });
const actions = ['set', 'list', 'remove', 'rotate'] as const;

/** What an action works with. */
type Work = {
  readonly client: Client;
  readonly config: Config;
  readonly words: readonly string[];
  readonly confirm: boolean;
};

/** `tws secret`: values that tasks and flows refer to by name; none ever stands on the command line. */
export const secret = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...words] = args;
  const action = actionOf('secret', word, actions);
  const wrong = usageProblem(action, words);
  if (wrong !== undefined) throw problem('usage', { reason: wrong });
  const config = read();
  const { client, close } = openDatabase(config);
  const work = { client, config, words, confirm: said.confirm };
  try {
    switch (action) {
      case 'set':
        return await set(work, io);
      case 'list':
        return await list(work, io);
      case 'remove':
        return await remove(work, io);
      case 'rotate':
        return await rotate(work, io);
    }
  } finally {
    await close();
  }
});

/** Why a call cannot be meant; undefined: it can. */
function usageProblem(
  action: (typeof actions)[number],
  words: readonly string[],
): string | undefined {
  if (action === 'list') return words.length > 0 ? '"tws secret list" takes no names.' : undefined;
  const most = action === 'rotate' ? Infinity : 2;
  const takes =
    action === 'rotate'
      ? 'takes names of secrets'
      : 'takes the name of a secret and one of a field';
  const least = action === 'rotate' ? 0 : 1;
  if (words.length < least || words.length > most) {
    const hint = action === 'set' ? '; the value is asked for, or read from stdin' : '';
    return `"tws secret ${action}" ${takes}${hint}.`;
  }
  const bad = words.find((one) => !isSecretWord(one));
  return bad === undefined
    ? undefined
    : `${JSON.stringify(bad)} is no name of a secret or a field: use letters, digits, "-" and "_".`;
}

function namedBy([name = '', field]: readonly string[]): NamedSecret {
  return field === undefined ? { name } : { name, field };
}

async function set({ client, config, words }: Work, io: Io): Promise<number> {
  const named = namedBy(words);
  const { owner } = config;
  const keyring = keyringOf(config);
  const clear = await valueFrom(`Value of ${secretText(named)}`, io);
  const place = { kind: 'secret' as const, owner, name: named.name, field: valueField(named) };
  const encrypted = await keyring.encrypt(clear, place);
  const { id, created } = await client.setSecret(owner, named, encrypted);
  io.out(`${created ? 'stored' : 'replaced'}: ${secretText(named)} of owner ${owner} (${id})`);
  if (!created) io.say('Attempts that begin from now on get the new value.');
  io.json({ id, name: named.name, field: named.field ?? null, owner, created });
  return 0;
}

async function list({ client, config }: Work, io: Io): Promise<number> {
  const owner = chosenOwner(config);
  const secrets = await client.secrets(owner === undefined ? undefined : [owner]);
  const uses = usesOf(await definitionsOf(client));
  const found = secrets.map((doc) => ({
    name: String(doc['name']),
    owner: ownerOf(doc),
    fields: fieldsOfSecret(doc),
    used_by: uses.get(keyOfSecret(ownerOf(doc), String(doc['name']))) ?? [],
  }));
  const rows = found.map(({ name, owner: of, fields, used_by: by }) => [
    { text: name },
    { text: of },
    { text: fields.map((field) => (field === '' ? '-' : field)).join(', ') },
    { text: by.join(', ') },
  ]);
  for (const line of tableLines(['SECRET', 'OWNER', 'FIELDS', 'USED BY'], rows, io)) io.out(line);
  if (found.length === 0) io.say('No secrets are stored; `tws secret set NAME` stores one.');
  io.json(found);
  return 0;
}

async function remove({ client, config, words, confirm }: Work, io: Io): Promise<number> {
  const named = namedBy(words);
  const { owner } = config;
  const users = usesOf(await definitionsOf(client)).get(keyOfSecret(owner, named.name)) ?? [];
  if (confirm) {
    if (!io.interactive) throw problem('confirmation_needed', { count: 1 });
    const ask = await confirming(io, 'Removing a secret');
    const used = users.length === 0 ? '' : `, which ${users.join(', ')} use`;
    const question = `Remove ${secretText(named)} of owner ${owner}${used}?`;
    if (!(await ask.confirm(question, false))) return 1;
  }
  const { id, left } = await client.removeSecret(owner, named);
  io.out(`removed: ${secretText(named)} of owner ${owner}`);
  if (users.length > 0) {
    io.warn(`warning: attempts of ${users.join(', ')} fail where they need it.`);
  }
  io.json({ id, removed: secretText(named), owner, left });
  return 0;
}

/** With the first key of TWS_CRYPTO_KEY; no clear text is shown. */
async function rotate({ client, config, words }: Work, io: Io): Promise<number> {
  const keyring = keyringOf(config);
  const owner = chosenOwner(config);
  const all = await client.secrets(owner === undefined ? undefined : [owner]);
  const missing = words.find((word) => !all.some(({ name }) => name === word));
  if (missing !== undefined) {
    throw problem('secret_absent', { secret: missing, owner: config.owner });
  }
  const chosen = all.filter(({ name }) => words.length === 0 || words.includes(String(name)));
  io.say(`Looking at ${counted(chosen.length, 'secret')}.`);
  return rewriteDocuments(chosen, { wanted: 'rotate', keyring, client }, io);
}

async function definitionsOf(client: Client): Promise<readonly StoredDocument[]> {
  return [...(await client.definitions('task')), ...(await client.definitions('flow'))];
}

/** The ids of the tasks and flows that name a secret, by its owner and name. */
function usesOf(definitions: readonly StoredDocument[]): ReadonlyMap<string, readonly string[]> {
  const uses = new Map<string, string[]>();
  for (const doc of definitions) {
    const names = new Set([...namedSecretsIn(doc).values()].map(({ name }) => name));
    for (const name of names) {
      const key = keyOfSecret(ownerOf(doc), name);
      addTo(uses, key, doc._id);
    }
  }
  return uses;
}

const keyOfSecret = (owner: string, name: string): string => JSON.stringify([owner, name]);
