import { Link } from 'wouter-preact';
import { fieldText, pageOf, type StoredDefinition } from './stored.js';
import { meant } from './uses.js';

type Props = {
  readonly of: Pick<StoredDefinition, 'document' | 'owner'>;
  /** All flows; undefined while they are not known. */
  readonly flows: readonly StoredDefinition[] | undefined;
};

/** A link to the flow that a schedule or hook runs: its owner's, or the one for all. */
export function FlowLink({ of: { document, owner }, flows }: Props) {
  const name = fieldText(document, 'flow');
  if (name === undefined) return <span class="muted">none</span>;
  if (flows === undefined) return <>{name}</>;
  const flow = meant(flows, name, owner);
  if (flow !== undefined) return <Link href={pageOf('flow', flow.id)}>{name}</Link>;
  return (
    <>
      {name} <span class="status failed">no such flow</span>
    </>
  );
}
