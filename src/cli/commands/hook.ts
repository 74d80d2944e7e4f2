import { z } from 'zod';
import { openDatabase } from '../../client.js';
import { defaultHost, defaultPort } from '../../config/address.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import { runningDev } from '../../config/dev.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand } from '../command.js';
import { printHooks, showHook } from '../hooks/show.js';
import { judgeTrial, readHook, sendTrial, type Trial } from '../hooks/try.js';
import type { Io } from '../io.js';
import { dataFlag } from '../json-flag.js';
import { theOne } from '../naming.js';
import { givenText } from '../params-flag.js';

const flags = z.object({
  data: z.string().optional(),
  header: z.array(z.string()).default([]),
  query: z.array(z.string()).default([]),
  send: z.union([z.boolean(), z.string()]).optional(),
});
type Flags = z.infer<typeof flags>;

const actions = ['list', 'show', 'test'] as const;

/** `tws hook`: which hooks there are, and what a delivery to one would start. */
export const hook = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...names] = args;
  const action = actionOf('hook', word, actions);
  const wrong = usageProblem(action, names, said);
  if (wrong !== undefined) throw problem('usage', { reason: wrong });
  const config = read();
  const { client, close } = openDatabase(config);
  const owner = chosenOwner(config);
  try {
    if (action === 'list') {
      io.json(await printHooks(client, owner, io));
      return 0;
    }
    const [name = ''] = names;
    const doc = theOne(await client.lookUp(name, { kinds: ['hook'], owner }), name, ['hook'], io);
    if (action === 'show') {
      io.json(await showHook(client, doc, io));
      return 0;
    }
    const trial = await trialOf(said, io);
    const read = readHook(doc);
    if (said.send === undefined || said.send === false) return judgeTrial(client, read, trial, io);
    const server = said.send === true ? serverOf(config) : said.send;
    return sendTrial({ doc, hook: read, trial, server }, config, io);
  } finally {
    await close();
  }
});

/** Why a call cannot be meant; undefined: it can. */
function usageProblem(
  action: (typeof actions)[number],
  names: readonly string[],
  { data, header, query, send }: Flags,
): string | undefined {
  if (action === 'list' && names.length > 0) return 'tws hook list takes no name.';
  if (action !== 'list' && names.length !== 1)
    return `tws hook ${action} takes the name of one hook.`;
  const isTrial = data !== undefined || header.length + query.length > 0 || send !== undefined;
  if (action !== 'test' && isTrial)
    return `tws hook ${action} takes no --data, --header, --query or --send.`;
  if (typeof send === 'string' && !/^https?:\/\//.test(send))
    return '--send takes the address of a server, such as http://127.0.0.1:5985.';
  return undefined;
}

/** @throws TwsError `usage` */
async function trialOf({ data, header, query }: Flags, io: Io): Promise<Trial> {
  return {
    data: data === undefined ? undefined : await dataOf(data, io),
    headers: pairsOf('header', ':', header, (name) => name.toLowerCase()),
    query: pairsOf('query', '=', query, (name) => name),
  };
}

async function dataOf(given: string, { cwd }: Io): Promise<unknown> {
  const read = dataFlag.safeParse(await givenText(given, cwd));
  if (read.success) return read.data;
  throw problem('usage', { reason: `--data ${read.error.issues[0]?.message}.` });
}

function pairsOf(
  flag: string,
  between: string,
  all: readonly string[],
  nameOf: (name: string) => string,
): Readonly<Record<string, string>> {
  const pairs = all.map((one) => {
    const at = one.indexOf(between);
    if (at > 0) return [nameOf(one.slice(0, at).trim()), one.slice(at + 1).trim()] as const;
    const reason = `--${flag} must be name${between}value; it is ${JSON.stringify(one)}.`;
    throw problem('usage', { reason });
  });
  return Object.fromEntries(pairs);
}

/** Where the API of these settings is: that of the `tws dev` whose database is used, else as they say. */
function serverOf({ http, embedded, origins }: Config): string {
  const isOfDev = origins['url']?.endsWith('embedded.json') === true;
  const running = isOfDev ? runningDev(embedded.dir)?.http : undefined;
  if (running !== undefined) return running;
  const { host = defaultHost, port = defaultPort, tls } = http;
  const name = host.includes(':') ? `[${host}]` : host;
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}`;
}
