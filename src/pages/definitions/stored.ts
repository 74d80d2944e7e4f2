import type { DefinitionKind } from '../../model/document.js';
import { hookEngineKeys } from '../../model/hook.js';
import { scheduleProgressKeys } from '../../model/schedule.js';
import { isDeprecated } from '../../model/welcome.js';
import type { AnyDocument } from '../answers.js';

/** Kinds of documents that people edit here. */
export type StoredKind = DefinitionKind | 'schedule' | 'hook' | 'notify';

/** A task, flow, schedule or hook as the API answers it. */
export type StoredDefinition = {
  readonly id: string;
  readonly rev: string;
  /** Of what engines write, too: it changes with what people write only. */
  readonly edition?: string;
  readonly name: string;
  readonly owner: string;
  readonly document: AnyDocument;
};

/** The flows and tasks that are stored now. */
export type DefinitionLists = {
  readonly flows: readonly StoredDefinition[];
  readonly tasks: readonly StoredDefinition[];
};

/** What a stored one was answered with. */
export type Put = {
  readonly id: string;
  readonly rev: string;
  readonly created: boolean;
  readonly warnings: readonly { readonly path: string; readonly message: string }[];
};

/** What engines write into documents that people edit. */
const engineKeys: Readonly<Partial<Record<string, readonly string[]>>> = {
  ...{ schedule: scheduleProgressKeys, hook: hookEngineKeys, notify: ['problems'] },
};

/** What people edit: without what is the store's own, and the engines'. */
export function editedContent({ document }: Pick<StoredDefinition, 'document'>): AnyDocument {
  const { _id, _rev, _attachments, ...content } = document;
  const ofEngines: readonly string[] = engineKeys[String(content['type'])] ?? [];
  return Object.fromEntries(Object.entries(content).filter(([key]) => !ofEngines.includes(key)));
}

/** What the header `if-match` says of one: it is stored or removed only while it is this edition. */
export function editionHeader({ edition, rev }: StoredDefinition) {
  return { 'if-match': `"${edition ?? rev}"` };
}

/** How a document stands in the editor. */
export function editorText(content: unknown): string {
  return JSON.stringify(content, null, 2);
}

/** What sentences call a kind. */
export function kindName(kind: StoredKind): string {
  return kind === 'notify' ? 'notify list' : kind;
}

/** First part of the addresses of a kind, in the API and of the pages. */
export function kindPath(kind: StoredKind): string {
  return kind === 'notify' ? kind : `${kind}s`;
}

/** Path of one in the API. */
export function definitionPath(kind: StoredKind, id: string): string {
  return `${kindPath(kind)}/${encodeURIComponent(id)}`;
}

/** Address of the page of one. */
export function pageOf(kind: StoredKind, id: string): string {
  return `/${definitionPath(kind, id)}`;
}

/** A text of a document, where it has one. */
export function fieldText(document: AnyDocument, key: string): string | undefined {
  const value = document[key];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a flow takes jobs: `disabled` and `deprecated` ones take none, jobs of `paused` ones wait. */
export function stateOf(document: AnyDocument): 'enabled' | 'paused' | 'disabled' | 'deprecated' {
  if (document['enabled'] === false) return 'disabled';
  if (isDeprecated(document)) return 'deprecated';
  return document['paused'] === true ? 'paused' : 'enabled';
}

/** What a new one begins with. */
export const blank: Readonly<Record<StoredKind, AnyDocument>> = {
  flow: { type: 'flow', name: '', owner: 'DEFAULT', tasks: [] },
  task: { type: 'task', name: '', plugin: '', params: {} },
  schedule: {
    ...{ type: 'schedule', name: '', owner: 'DEFAULT', flow: '' },
    ...{ cron: '0 6 * * *', time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  },
  hook: {
    ...{ type: 'hook', name: '', owner: 'DEFAULT', flow: '' },
    check: { standard_webhooks: { secret: '' } },
    params: '{ "body": body }',
  },
  notify: { type: 'notify', owner: 'DEFAULT', notify: [{ on: ['failed'], task: '' }] },
};
