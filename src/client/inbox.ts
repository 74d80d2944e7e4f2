import { problem } from '../errors.js';
import { readSchema } from '../evaluate/schemas.js';
import { isLiveJob } from '../model/job.js';
import type { StoredDocument } from '../model/document.js';
import type { Problem } from '../model/problems.js';
import { openForms, shownForm, type OpenForm, type ShownForm } from '../reading/open-forms.js';
import { parseDocument } from '../reading/parse.js';
import type { AnswerWay } from '../reading/form-facts.js';
import { groupMark, lateAnswer, mayAnswer, peopleWords } from '../reading/people.js';
import type { Store } from '../store/store.js';
import { currentJob, jobOf } from './jobs.js';
import { sendSignal } from './messages.js';

/** Whose forms: those of a user, of roles, of everybody; without any of them all. */
export type InboxQuery = {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  /** Also those that everybody may answer. */
  readonly anyone?: boolean | undefined;
  /** Only of jobs of these owners. */
  readonly owners?: readonly string[] | undefined;
  /** At most this many; default 100. */
  readonly most?: number | undefined;
};

/** `more`: there are others. */
export type Inbox = { readonly forms: readonly ShownForm[]; readonly more: boolean };

const usualMost = 100;

/** Lists the forms that wait for an answer: what is due first comes first. */
export async function listInbox(store: Store, query: InboxQuery): Promise<Inbox> {
  const { owners, most = usualMost } = query;
  const all = await Promise.all(keysOf(query).map((key) => rowsOf(store, key, { owners, most })));
  const found = new Map(all.flat().map((row) => [placeIn(row), row]));
  const sorted = [...found.values()].sort((a, b) => a.key[2] - b.key[2]);
  const forms = await formsIn(store, sorted.slice(0, most));
  return { forms, more: sorted.length > most };
}

/** So many jobs are in memory at once where they are read themselves. */
const pageOfJobs = 20;

/** Returns what people need of the forms of some rows. Jobs that an older engine began are read themselves. */
async function formsIn(store: Store, rows: readonly FormRow[]): Promise<readonly ShownForm[]> {
  const keys = rows.map(({ id, value: [, path] }) => ['form', id, path]);
  const found = keys.length === 0 ? [] : await store.view('inbox', { keys });
  const told = new Map<string, ShownForm>();
  const put = (form: ShownForm): void => {
    told.set(JSON.stringify([form.job, form.path, form.attempt]), form);
  };
  for (const { value } of found) put(value as ShownForm);
  const isTold = (row: FormRow): boolean => told.has(placeIn(row));
  const older = [...new Set(rows.filter((row) => !isTold(row)).map(({ id }) => id))];
  for (let i = 0; i < older.length; i += pageOfJobs) {
    const docs = await store.getMany(older.slice(i, i + pageOfJobs));
    for (const doc of docs.values()) formsOf(doc).map(shownForm).forEach(put);
  }
  return rows.flatMap((row) => told.get(placeIn(row)) ?? []);
}

function placeIn({ id, value: [, path, attempt] }: FormRow): string {
  return JSON.stringify([id, path, attempt]);
}

type FormRow = {
  readonly id: string;
  readonly key: readonly [kind: string, name: string, due: number];
  readonly value: readonly [owner: string, path: string, attempt: number];
};

type Key = readonly [kind: 'user' | 'group' | 'anyone' | 'all', name: string];

function keysOf({ user, groups = [], anyone = false }: InboxQuery): readonly Key[] {
  const keys: readonly Key[] = [
    ...(user === undefined ? [] : [['user', user] as const]),
    ...groups.map((name) => ['group', name] as const),
    ...(anyone ? [['anyone', ''] as const] : []),
  ];
  return keys.length === 0 ? [['all', '']] : keys;
}

type Wanted = { readonly owners: InboxQuery['owners']; readonly most: number };

/** One more than are wanted, where there are so many. Forms of other owners may stand before them. */
async function rowsOf(
  store: Store,
  [kind, name]: Key,
  { owners, most }: Wanted,
): Promise<readonly FormRow[]> {
  const query = { startKey: [kind, name], endKey: [kind, name, {}] };
  if (owners === undefined) {
    return (await store.view('inbox', {
      ...query,
      limit: most + 1,
    })) as unknown as readonly FormRow[];
  }
  const found: FormRow[] = [];
  for await (const row of store.rows('inbox', query) as unknown as AsyncIterable<FormRow>) {
    if (!owners.includes(row.value[0])) continue;
    found.push(row);
    if (found.length > most) break;
  }
  return found;
}

/** Returns the forms of a job, as it is stored, that wait for an answer. */
export function formsOf(doc: StoredDocument): readonly OpenForm[] {
  const parsed = parseDocument(doc);
  return parsed.kind === 'job' && parsed.ok && isLiveJob(parsed.value)
    ? openForms(parsed.value)
    : [];
}

/** The same of the job as which it goes on, where it does. */
export async function formsToAnswer(
  store: Store,
  doc: StoredDocument,
): Promise<readonly OpenForm[]> {
  return formsOf(await currentJob(store, doc));
}

/** An answer to a form of a job. `step`: its path, name or signal; absent: the only one that is open. */
export type FormAnswer = {
  readonly job: string;
  readonly step?: string | undefined;
  readonly attempt?: number | undefined;
  readonly data: unknown;
  readonly by?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  /** May answer whatever is asked of others. */
  readonly isAdmin?: boolean | undefined;
  /** May not answer what asks everybody. */
  readonly isViewer?: boolean | undefined;
  /** By which way it is given. */
  readonly via?: AnswerWay | undefined;
};

/** A form with the id of the signal that answers it. */
export type FormAnswerSent = { readonly form: OpenForm; readonly signal: string };

/**
 * Checks an answer and stores the signal that brings it.
 * @throws TwsError `document_missing`, `form_answered`, `form_missing`, `form_ambiguous`, `form_not_asked`, `form_unfit`
 */
export async function sendFormAnswer(store: Store, answer: FormAnswer): Promise<FormAnswerSent> {
  const doc = await currentJob(store, await jobOf(store, answer.job));
  const form = formFor(doc, answer);
  const { by, data, via, isViewer = false } = answer;
  const as = roleIn(form, answer);
  const isShut = isViewer && form.assignee === undefined && form.group === undefined;
  if (isShut || !mayAnswer(form, { by, as })) {
    const people = isShut ? 'an operator' : peopleWords(form);
    throw problem('form_not_asked', { step: form.step, people, who: by ?? '' });
  }
  const problems = answerProblems(form, data);
  const [first, ...more] = problems.map(({ message }) => message);
  if (first !== undefined)
    throw problem('form_unfit', { step: form.step, first, more: more.join(' ') });
  const { job, path: step, attempt, signal: name } = form;
  const to = { step, attempt, ...(as === undefined ? {} : { as }) };
  const who = { ...(by === undefined ? {} : { by }), ...(via === undefined ? {} : { via }) };
  return { form, signal: await sendSignal(store, { job, name, data, ...who, ...to }) };
}

/** What is wrong with an answer: a sentence for each field. */
export function answerProblems({ form }: OpenForm, data: unknown): readonly Problem[] {
  const schema = readSchema(form);
  return schema.ok ? schema.problemsOf(data ?? {}, 'data') : [];
}

function formFor(doc: StoredDocument, { step, attempt }: FormAnswer): OpenForm {
  const open = formsOf(doc);
  const named = open.filter(
    (one) =>
      (step === undefined || [one.path, one.step, one.signal].includes(step)) &&
      (attempt === undefined || one.attempt === attempt),
  );
  const [form, ...others] = named;
  if (form !== undefined && others.length === 0) return form;
  const job = doc._id;
  if (form !== undefined)
    throw problem('form_ambiguous', { job, paths: named.map(({ path }) => path).join(', ') });
  const late = lateFor(doc, step, attempt);
  throw late === undefined
    ? problem('form_missing', { job, step: step ?? '' })
    : problem('form_answered', { reason: late });
}

/** Why nothing waits for an answer any more. */
function lateFor(doc: StoredDocument, step?: string, attempt?: number): string | undefined {
  const steps = (Array.isArray(doc['steps']) ? doc['steps'] : []) as readonly Doc[];
  const meant = steps.findLast(
    ({ form, path, name, signal }) =>
      form !== undefined && (step === undefined || [path, name, signal].includes(step)),
  );
  if (meant === undefined) return undefined;
  const { signal, path } = meant;
  return lateAnswer(doc, { name: String(signal), step: String(path), attempt });
}

type Doc = Readonly<Record<string, unknown>>;

/** As what somebody answers who is not named. */
function roleIn({ assignee = [], group = [] }: OpenForm, who: FormAnswer): string | undefined {
  const { by, roles = [], isAdmin = false } = who;
  if (assignee.length + group.length === 0) return undefined;
  if (by !== undefined && assignee.includes(by)) return undefined;
  const role = group.find((name) => roles.includes(name));
  if (role !== undefined) return `${groupMark}${role}`;
  return isAdmin ? 'admin' : undefined;
}
