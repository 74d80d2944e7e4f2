import type { Client } from '../client.js';
import { closest } from '../model/closest.js';
import type { Config } from '../config/load.js';
import { problem } from '../errors.js';
import { versionOf, versionsOf } from '../model/flow-versions.js';
import { isObject } from '../model/object.js';
import type { StoredDocument } from '../model/document.js';
import { defaultOwner, ownerOf } from '../model/task.js';
import { isJobKey } from './answers.js';
import type { Written } from '../validate/written.js';
import { chosenOwner } from './chosen-owner.js';
import type { Io } from './io.js';
import { theOne } from './naming.js';
import { toValue } from './placeholders.js';
import { questions } from './prompt.js';

/**
 * The stored flow that a word means, by its id, `name` or `name::owner`: that of the owner who was
 * chosen, else of DEFAULT; where nobody chose one it has to be the only flow of its name.
 * `version`: of the flow; default: the current one.
 * @throws TwsError `nothing_to_submit`, `name_ambiguous`, `flow_version_missing`
 */
export async function storedFlow(
  client: Client,
  given: string,
  { config, version }: { readonly config: Config; readonly version?: string | undefined },
  io: Io,
): Promise<StoredDocument> {
  const found = await flowsCalled(client, given);
  const owner = chosenOwner(config);
  const wanted = owner === undefined ? found : ofOwner(found, owner);
  if (wanted.length === 0) {
    const flows = (await client.definitions('flow')).map(({ name }) => String(name));
    throw problem('nothing_to_submit', { given, owner, close: closest(given, flows) });
  }
  if (version === undefined) return theOne(wanted, given, ['flow'], io);
  const ofVersion = wanted.filter((doc) => versionOf(doc) === version);
  const versions = versionsOf(wanted).join(', ');
  if (ofVersion.length === 0) throw problem('flow_version_missing', { given, version, versions });
  return theOne(ofVersion, given, ['flow'], io);
}

/** The stored flows that a word may mean, of all owners. */
export async function flowsCalled(
  client: Client,
  given: string,
): Promise<readonly StoredDocument[]> {
  return (await client.lookUp(given, { kinds: ['flow'] })).filter(({ type }) => type === 'flow');
}

function ofOwner(found: readonly StoredDocument[], owner: string): readonly StoredDocument[] {
  const own = found.filter((doc) => ownerOf(doc) === owner);
  return own.length > 0 ? own : found.filter((doc) => ownerOf(doc) === defaultOwner);
}

/** A job of a flow, for the owner who was chosen, else for that of the flow. */
export function jobOfFlow(flow: StoredDocument, config: Config, version?: string): Written {
  const asked = version === undefined ? {} : { flow_version: version };
  return { type: 'job', flow: flow['name'], ...asked, owner: chosenOwner(config) ?? ownerOf(flow) };
}

/** `--set k=v` of a flow means the parameter k, unless k is a key of jobs. */
export function forParams(setting: string): string {
  const [first = ''] = setting.split(/[.=]/);
  return first === 'params' || isJobKey(first) ? setting : `params.${setting}`;
}

/**
 * Fills in what the schema of the flow requires and nobody gave: its default where it has one, else
 * an answer at the terminal.
 * @throws TwsError `params_missing` away from a terminal
 */
export async function withRequired(
  job: Written,
  flow: StoredDocument,
  io: Io,
  ask: typeof questions = questions,
): Promise<Written> {
  const open = openParams(job, flow);
  if (open.length === 0) return job;
  const missing = open.filter(({ usual }) => usual === undefined).map(({ key }) => key);
  if (missing.length > 0 && !io.interactive) {
    throw problem('params_missing', { flow: String(flow['name']), missing });
  }
  const { text } = missing.length === 0 ? { text: undefined } : await ask(io, 'What is required');
  const params: Record<string, unknown> = { ...recordOf(job['params']) };
  for (const { key, about, isText, usual } of open) {
    let given = '';
    while (usual === undefined && given.trim() === '')
      given = (await text?.(`${key}${about}:`)) ?? '';
    params[key] = usual ?? (isText ? given : toValue(given));
  }
  return { ...job, params };
}

type OpenParam = {
  readonly key: string;
  readonly about: string;
  readonly isText: boolean;
  /** The default that the schema has for it. */
  readonly usual: unknown;
};

/** What the schema requires and neither the job nor the flow, where its schema declares it, gives. */
function openParams(job: Written, flow: StoredDocument): readonly OpenParam[] {
  const { required, properties } = schemaOf(flow);
  const declared = Object.keys(recordOf(properties));
  const ofFlow = Object.entries(recordOf(flow['params'])).filter(([key]) => declared.includes(key));
  const given = { ...Object.fromEntries(ofFlow), ...recordOf(job['params']) };
  const names = Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
  return names
    .filter((key) => !Object.hasOwn(given, key))
    .map((key) => {
      const { type, description, default: usual } = recordOf(recordOf(properties)[key]);
      const about = typeof description === 'string' ? ` (${description})` : '';
      return { key, about, isText: type === 'string', usual };
    });
}

const schemaOf = (flow: StoredDocument): Written => recordOf(flow['schema']);
const recordOf = (value: unknown): Written => (isObject(value) ? value : {});
