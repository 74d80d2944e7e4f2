import { existsSync } from 'node:fs';
import type { Client } from '../client.js';
import type { Config } from '../config/load.js';
import { problem } from '../errors.js';
import { isObject } from '../model/object.js';
import { answersFor } from './answers.js';
import { readJsonFile, readJsonText, type FoundFile } from './files.js';
import type { Written } from '../validate/written.js';
import type { Io } from './io.js';
import { resolvePath, shownPath, type PathBase } from './paths.js';
import { problemLine } from './problems.js';
import { flowsCalled, forParams, jobOfFlow, storedFlow, withRequired } from './stored-flow.js';

/** What there is to make a job of. */
type Given = {
  readonly client: Client;
  readonly config: Config;
  readonly said: {
    readonly set: readonly string[];
    readonly storedFlow: boolean;
    readonly flowVersion?: string | undefined;
  };
  /** What `--params` gives. */
  readonly params: Written;
};

/** A job that is complete, and how it is called in sentences. */
export type Order = { readonly job: Written; readonly shown: string };

/**
 * The job that a word means: that of a file, or one of a stored flow. A file comes before a stored
 * flow of the same name, and it is told that there is one.
 * @throws TwsError `file_missing`, `file_unusable`, `nothing_to_submit`, `name_ambiguous`, `params_missing`
 */
export async function orderFor(what: string, given: Given, io: Io): Promise<Order> {
  const { client, config, said, params } = given;
  const place = { cwd: io.cwd, root: config.root };
  const file = said.storedFlow || what === '-' ? undefined : fileOf(what, place);
  if (what === '-' || file !== undefined) {
    const { doc, shown } = await readJob(file, io);
    const job = await answersFor({ doc: withParams(doc, params), file: shown, set: said.set }, io);
    await sayOfFlow(client, { what, shown }, io);
    return { job, shown };
  }
  if (isPath(what) && !said.storedFlow) throw problem('file_missing', { file: what });
  const { flowVersion: version } = said;
  const flow = await storedFlow(client, what, { config, version }, io);
  const shown = `flow ${String(flow['name'])}`;
  const doc = withParams(jobOfFlow(flow, config, version), params);
  const answered = await answersFor({ doc, file: shown, set: said.set.map(forParams) }, io);
  return { job: await withRequired(answered, flow, io), shown };
}

/** What was given on the command line is stronger than what the job has. */
function withParams(job: Written, params: Written): Written {
  const { params: own } = job;
  if (Object.keys(params).length === 0) return job;
  const below = isObject(own) ? own : {};
  const merged = Object.entries(params).map(([key, value]) => {
    const before = below[key];
    return [key, isObject(before) && isObject(value) ? { ...before, ...value } : value];
  });
  return { ...job, params: { ...below, ...Object.fromEntries(merged) } };
}

/** A name with a folder or an ending can only be a file. */
const isPath = (what: string): boolean => /[\\/]|\.json$/.test(what);

/** Both a job file and a stored flow have the name: which one was taken is told. */
async function sayOfFlow(
  client: Client,
  { what, shown }: { readonly what: string; readonly shown: string },
  io: Io,
): Promise<void> {
  if (what === '-' || isPath(what) || io.mode !== 'text') return;
  if ((await flowsCalled(client, what)).length === 0) return;
  io.say(`The job of ${shown} is submitted; --stored-flow takes the flow "${what}" without it.`);
}

/** The job of a file; of stdin where there is none. @throws TwsError `file_unusable` */
async function readJob(
  found: FoundFile | undefined,
  io: Io,
): Promise<{ readonly doc: Written; readonly shown: string }> {
  const read =
    found === undefined
      ? readJsonText(await io.readInput(), { path: '-', shown: 'stdin', named: true })
      : await readJsonFile(found);
  if (!read.ok) {
    const { file, ...where } = read.problem;
    throw problem('file_unusable', {
      file,
      reason: problemLine({ file: where.path, path: '', message: where.message }),
    });
  }
  const { doc, file } = read;
  if (doc['type'] !== 'job') {
    const { type } = doc;
    const what = typeof type === 'string' ? `a ${type}` : 'a document without type';
    const reason = `it holds ${what}, not a job. --stored-flow submits the stored flow of that name.`;
    throw problem('file_unusable', { file: file.shown, reason });
  }
  const { $schema, ...job } = doc;
  return { doc: job, shown: file.shown };
}

/** A path, or the name of a file in `~tws/jobs`; undefined when there is none. */
function fileOf(given: string, place: PathBase): FoundFile | undefined {
  const candidates = [given, `${given}.json`, `~tws/jobs/${given}`, `~tws/jobs/${given}.json`];
  for (const candidate of candidates.filter((name) => name.endsWith('.json'))) {
    const path = resolvePath(candidate, place);
    if (existsSync(path)) return { path, shown: shownPath(path, place), named: true };
  }
  return undefined;
}
