import { z } from 'zod';
import { openDatabase, type Client } from '../../client.js';
import { problemOfAnswer } from '../../client-rules.js';
import type { Config } from '../../config/load.js';
import { problem } from '../../errors.js';
import { isObject } from '../../model/object.js';
import type { ShownForm } from '../../reading/open-forms.js';
import { peopleWords } from '../../reading/people.js';
import { momentFrom } from '../../words.js';
import { chosenOwner } from '../chosen-owner.js';
import { defineCommand, numberFlag, switchFlag } from '../command.js';
import type { Io } from '../io.js';
import { dataFlag } from '../json-flag.js';
import { questions } from '../prompt.js';
import { tableLines, type TableCell } from '../table.js';

const inboxFlags = z.object({
  for: z.string().min(1).optional(),
  group: z.string().min(1).optional(),
  all: switchFlag,
  limit: numberFlag(1, 1_000),
});

/** `tws inbox`: the forms that wait for an answer. */
export const inbox = defineCommand(inboxFlags, async ({ flags, config: read }, io) => {
  const config = read();
  const { for: named, group, all, limit } = flags;
  if (all && (named ?? group) !== undefined)
    throw problem('usage', { reason: '--all goes with neither --for nor --group.' });
  const owner = chosenOwner(config);
  const owners = owner === undefined ? undefined : [owner];
  const { client, close } = openDatabase(config);
  try {
    const groups = group === undefined ? undefined : [group];
    const found = await client.inbox({ user: named, groups, owners, most: limit });
    const now = Date.now();
    for (const line of tableLines(
      head,
      found.forms.map((one) => cellsOf(one, now)),
      io,
    ))
      io.out(line);
    if (found.forms.length === 0) io.say('Nothing waits for an answer.');
    if (found.more) io.say('There are others; see `--limit`.');
    io.json({ forms: found.forms, more: found.more });
    return 0;
  } finally {
    await close();
  }
});

const head = ['DUE', 'FOR', 'TITLE', 'JOB', 'STEP', 'FLOW', 'SINCE'];

function cellsOf(form: ShownForm, now: number): readonly TableCell[] {
  const { due, title = '-', job, path, step, flow, since } = form;
  const texts = [
    due === undefined ? '-' : momentFrom(now, due),
    peopleWords(form),
    title,
    job,
    path === step ? path : `${path} (${step})`,
    flow,
    momentFrom(now, since),
  ];
  return texts.map((text) => ({ text }));
}

const answerFlags = z.object({ data: dataFlag.optional(), as: z.string().min(1).optional() });

/** So long an engine that runs takes at most. */
const usualWaitMs = 5_000;

/** `tws answer`: answers a form; its fields are asked for where no data are given. */
export const answer = defineCommand(answerFlags, async ({ args, flags, config: read }, io) => {
  const [job = '', step] = args;
  const config = read();
  const { client, close } = openDatabase(config);
  try {
    const who = await answering(client, config, flags.as);
    const data = flags.data ?? (await askedData(client, { job, step }, io));
    const { form, signal } = await client.answerForm({
      ...{ job, step, data, via: 'command' as const },
      ...who,
    });
    const told = await client.answer(
      { job: form.job, id: signal },
      { waitMs: usualWaitMs, signal: io.stop },
    );
    // A step that fails by an answer has taken it.
    const refusal = told.kind === 'failed' ? undefined : problemOfAnswer(told, form.job);
    if (refusal !== undefined) throw refusal;
    const outcome = told.kind === 'pending' ? 'stored' : 'answered';
    const later = outcome === 'stored' ? '; an engine will take it' : '';
    io.out(`${outcome}: step "${form.step}" of ${form.job}${later}`);
    io.json({ job: form.job, step: form.step, path: form.path, signal, outcome });
    return 0;
  } finally {
    await close();
  }
});

/** Who answers: the user of CouchDB; where there is none, whoever is named. */
async function answering(client: Client, { user, password = '' }: Config, as: string | undefined) {
  if (user === undefined)
    return { ...(as === undefined ? {} : { by: as }), isAdmin: as === undefined };
  if (as !== undefined && as !== user) {
    throw problem('usage', {
      reason: `--as is for databases without users: you answer as "${user}".`,
    });
  }
  const known = await client.signIn({ name: user, password, address: '127.0.0.1' });
  const roles = known.kind === 'signed_in' ? known.roles : [];
  return { by: user, roles, isAdmin: roles.includes('_admin') || roles.includes('tws-admin') };
}

type Asked = { readonly job: string; readonly step: string | undefined };

/** Asks for the fields of a form, one after the other. @throws TwsError `terminal_needed` */
async function askedData(client: Client, { job, step }: Asked, io: Io): Promise<unknown> {
  const doc = await client.get(job);
  const forms = doc === undefined ? [] : await client.forms(doc);
  const meant = forms.filter(
    ({ path, step: name, signal }) => step === undefined || [path, name, signal].includes(step),
  );
  const [form] = meant;
  // What is wrong is told where the answer is sent.
  if (form === undefined || meant.length > 1) return {};
  const ask = await questions(io, `the answer (--data)`);
  if (form.title !== undefined) io.say(form.title);
  if (form.text !== undefined) io.say(form.text);
  const { properties, required } = form.form;
  const data: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(isObject(properties) ? properties : {})) {
    const { type, title, enum: choices } = isObject(field) ? field : {};
    const isNeeded = Array.isArray(required) && required.includes(key);
    const label = typeof title === 'string' ? title : key;
    const of = Array.isArray(choices) ? ` (${choices.map(String).join(', ')})` : '';
    if (type === 'boolean') {
      data[key] = await ask.confirm(`${label}?`, false);
      continue;
    }
    const text = await ask.text(`${label}${of}${isNeeded ? '' : ' (may be left out)'}:`);
    if (text !== '') data[key] = valueOf(text, type);
  }
  return data;
}

/** What somebody types is text, unless the field is something else. */
function valueOf(text: string, type: unknown): unknown {
  if (type === 'string' || type === undefined) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
