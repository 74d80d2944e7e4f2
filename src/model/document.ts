/** A document as CouchDB hands it out. */
export type StoredDocument = {
  readonly _id: string;
  readonly _rev: string;
  readonly [key: string]: unknown;
};

/** A document that says what jobs run. */
export type DefinitionKind = 'task' | 'flow';
