import { z } from 'zod';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import type { StoredDocument } from '../../model/document.js';
import { isSensitiveName } from '../../model/sensitive.js';
import { keptIn } from '../../sensitive/values.js';
import type { SubjectFacts, SubjectOf, Vault } from '../../sensitive/vault.js';
import { counted, listed } from '../../words.js';
import { actionOf } from '../action.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand } from '../command.js';
import type { Io } from '../io.js';
import { confirming } from '../prompt.js';
import { valueFrom } from '../secrets/given.js';
import { accessorOf, vaultOf, withVault } from '../sensitive-values.js';
import { assertClock } from '../server-clock.js';
import { momentOf, spanFlag } from '../since-flag.js';
import { plain } from '../safe.js';
import { tableLines } from '../table.js';

const flags = z.object({
  confirm: z.boolean().default(true),
  subject: z.string().min(1, { error: 'must not be empty' }).optional(),
  olderThan: z.string().optional(),
  why: z.string().optional(),
  retain: spanFlag,
});
const actions = ['put', 'get', 'list', 'purge', 'reference', 'log'] as const;
type Action = (typeof actions)[number];

type Work = {
  readonly vault: Vault;
  readonly config: Config;
  readonly words: readonly string[];
  readonly said: z.infer<typeof flags>;
};

/** `tws sensitive`: values about subjects, kept apart from jobs; none ever stands on the command line. */
export const sensitive = defineCommand(flags, async ({ args, flags: said, config: read }, io) => {
  const [word = '', ...words] = args;
  const action = actionOf('sensitive', word, actions);
  const wrong = usageProblem(action, words, said);
  if (wrong !== undefined) throw problem('usage', { reason: wrong });
  const config = read();
  return withVault(vaultOf(config), (vault) => calls[action]({ vault, config, words, said }, io));
});

const calls: Readonly<Record<Action, (work: Work, io: Io) => Promise<number>>> = {
  put,
  get,
  list,
  purge,
  reference,
  log,
};

const takes: Readonly<
  Record<Action, { readonly from: number; readonly to: number; what: string }>
> = {
  put: {
    from: 2,
    to: 2,
    what: 'a subject and the name of a value, which is asked for or read from stdin',
  },
  get: { from: 2, to: Infinity, what: 'a subject and names of values' },
  list: { from: 0, to: 0, what: 'no names' },
  purge: { from: 0, to: 0, what: '--subject or --older-than' },
  reference: { from: 1, to: 1, what: 'a subject' },
  log: { from: 0, to: 0, what: 'no names' },
};

/** Why a call cannot be meant; undefined: it can. */
function usageProblem(
  action: Action,
  words: readonly string[],
  { subject, olderThan, retain }: Work['said'],
): string | undefined {
  const { from, to, what } = takes[action];
  const isPurge = action === 'purge';
  const chosen = [subject, olderThan].filter((one) => one !== undefined).length;
  if (retain !== undefined && action !== 'put') return '--retain is for "tws sensitive put".';
  if (words.length < from || words.length > to || chosen !== (isPurge ? 1 : 0)) {
    return `"tws sensitive ${action}" takes ${what}.`;
  }
  const bad = words.slice(1).find((name) => !isSensitiveName(name));
  return bad === undefined
    ? undefined
    : `${JSON.stringify(bad)} is no name of a value: use letters, digits, "-" and "_".`;
}

async function put({ vault, config, words: [given = '', name = ''], said }: Work, io: Io) {
  const value = await valueFrom(`Value of ${name}`, io);
  const by = { ...accessorOf(config, said.why), retain: said.retain };
  const of = await vault.put(config.owner, given, { [name]: value }, by);
  io.say(`stored: ${name} of owner ${config.owner}; its reference for "subject" of jobs:`);
  io.result(of.subject);
  io.json({ subject: of.subject, name, owner: config.owner });
  return 0;
}

async function reference({ vault, config, words: [given = ''] }: Work, io: Io) {
  const { subject } = await vault.subjectOf(config.owner, given);
  io.result(subject);
  io.json({ subject, owner: config.owner });
  return 0;
}

async function get({ vault, config, words: [given = '', ...names], said }: Work, io: Io) {
  const of = await vault.subjectOf(config.owner, given);
  const values = await vault.read({ ...of, names, ...accessorOf(config, said.why) });
  const missing = names.find((name) => !Object.hasOwn(values, name));
  if (missing !== undefined) {
    throw problem('sensitive_absent', { name: missing, owner: config.owner });
  }
  for (const name of names) io.result(String(values[name]));
  io.json(values);
  return 0;
}

async function list({ vault, config }: Work, io: Io) {
  const owner = chosenOwner(config);
  const found = await vault.list(owner === undefined ? undefined : [owner]);
  const rows = found.map(({ subject, owner: of, names, updated, readable, retain }) => [
    { text: subject },
    { text: of },
    { text: readable ? names.join(', ') : 'key destroyed' },
    { text: new Date(updated).toISOString() },
    { text: untilText(updated, retain, config) },
  ]);
  const head = ['SUBJECT', 'OWNER', 'VALUES', 'STORED', 'UNTIL'];
  for (const line of tableLines(head, rows, io)) io.out(line);
  if (found.length === 0) io.say('No sensitive values are stored.');
  io.json(found);
  return 0;
}

/** When the key is destroyed, as the settings here have it. */
function untilText(updated: number, retain: number | undefined, config: Config): string {
  const ms = retain ?? config.sensitiveRetainMs ?? 0;
  return ms === 0 ? '' : new Date(updated + ms).toISOString();
}

async function log({ vault }: Work, io: Io) {
  const all = await vault.accesses();
  const rows = all.map(({ at, who: by, how, subject, names, why }) => [
    { text: new Date(Number(at)).toISOString() },
    { text: String(by) },
    { text: String(how) },
    { text: String(subject) },
    { text: Array.isArray(names) ? names.join(', ') : '' },
    { text: typeof why === 'string' ? why : '' },
  ]);
  const head = ['TIME', 'WHO', 'WHAT', 'SUBJECT', 'VALUES', 'WHY'];
  for (const line of tableLines(head, rows, io)) io.out(line);
  io.json(all);
  return 0;
}

async function purge({ vault, config, said }: Work, io: Io) {
  const { chosen, isDue } = await toPurge({ vault, config, said });
  const what = `the sensitive values of ${counted(chosen.length, 'subject')}`;
  if (said.confirm && chosen.length > 0) {
    if (!io.interactive) throw problem('confirmation_needed', { count: chosen.length });
    const ask = await confirming(io, 'A purge');
    if (!(await ask.confirm(`Destroy ${what}? Nothing can read them afterwards.`, false))) return 1;
  }
  // Also when there are none: a former purge may have ended before the files were rewritten.
  const by = accessorOf(config, said.why);
  // What was stored anew while the question was open is not that old.
  const gone = await vault.purge(chosen, isDue === undefined ? by : { ...by, isDue });
  io.out(`purged: ${counted(gone.length, 'subject')}`);
  if (gone.length > 0) io.say(plain(listed(gone.map(({ subject }) => subject))));
  io.json({ purged: gone });
  return 0;
}

async function toPurge({ vault, config, said }: Omit<Work, 'words'>): Promise<{
  readonly chosen: readonly SubjectOf[];
  readonly isDue?: (stored: StoredDocument) => boolean;
}> {
  const { subject, olderThan } = said;
  if (subject !== undefined) return { chosen: [await vault.subjectOf(config.owner, subject)] };
  const before = momentOf((olderThan ?? '').trim(), Date.now());
  if (before === undefined) {
    const reason = `--older-than must be an age or a date, such as 90d or 2030-01-31; it is "${olderThan}".`;
    throw problem('usage', { reason });
  }
  await assertClock(config);
  const owner = chosenOwner(config);
  const all = await vault.list(owner === undefined ? undefined : [owner]);
  return {
    chosen: all.filter(({ updated }: SubjectFacts) => updated < before),
    isDue: (stored) => keptIn(stored).updated < before,
  };
}
