import { engineControlSchema, everyEngine } from '../../model/engine-control.js';
import type { StoredDocument } from '../../model/document.js';
import { toProblems } from '../../model/problems.js';
import type { Log } from '../log.js';

/** The controls of the database that concern this engine. */
export type Controls = {
  /** Takes a changed or deleted control; false when the document is none and was none. */
  readonly update: (id: string, doc: StoredDocument | undefined) => boolean;
  /** Whether this engine may take work, by the id of each control that concerns it. */
  readonly held: ReadonlyMap<string, boolean>;
  /** Takes all that there are: what is not among them was deleted. */
  readonly replace: (docs: readonly StoredDocument[]) => void;
};

export type ControlsOptions = {
  /** The id of this engine. */
  readonly me: string;
  readonly log: Log;
  /** Whether this engine is the one that reports what all of them see. */
  readonly isReporter: (of: string) => boolean;
  /** Called when it changes whether this engine takes new work. */
  readonly onChange: (enabled: boolean) => void;
};

/** An engine is disabled while any control for it, or for all, says so. */
export function createControls({ me, log, isReporter, onChange }: ControlsOptions): Controls {
  const said = new Map<string, boolean>();
  /** The revisions of malformed controls that this engine has reported, by their ids. */
  const malformed = new Map<string, string>();
  let enabled = true;
  const judge = (): void => {
    const now = ![...said.values()].includes(false);
    if (now === enabled) return;
    enabled = now;
    onChange(enabled);
  };
  const put = (id: string, doc: StoredDocument | undefined): boolean => {
    const had = said.delete(id);
    if (doc?.['type'] !== 'engine-control') {
      malformed.delete(id);
      return had;
    }
    const parsed = engineControlSchema.safeParse(doc);
    const { engine, enabled } = doc;
    const isMeant = engine === me || engine === everyEngine;
    // A mistake beside a wish that can be read enables nothing.
    if (isMeant && (parsed.success || enabled === false)) said.set(id, enabled !== false);
    if (!parsed.success) {
      const [first] = toProblems(parsed.error.issues, doc);
      tellOnce(doc, first?.message ?? '');
    }
    return true;
  };
  const tellOnce = ({ _id: id, _rev: rev }: StoredDocument, problem: string): void => {
    if (malformed.get(id) === rev || !isReporter(id)) return;
    malformed.set(id, rev);
    log.warn({ control: id }, `Control ${id} is not valid: ${problem}`);
  };
  return {
    held: said,
    update: (id, doc) => {
      const concerned = put(id, doc);
      if (concerned) judge();
      return concerned;
    },
    replace: (docs) => {
      said.clear();
      for (const doc of docs) put(doc._id, doc);
      judge();
    },
  };
}
