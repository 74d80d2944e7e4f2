import { useMemo } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { mayAdmin } from '../session/session.js';
import type { KnownDefinitions } from './known.js';
import { pageOf } from './stored.js';
import type { DefinitionKind } from '../../model/document.js';
import { isMissing } from './tasks.js';
import { flowOf, flowsOf, meant, tasksOf } from './uses.js';

type Props = { readonly value: unknown; readonly known: KnownDefinitions | undefined };

/** The tasks and flows that a flow names, and those of them that are missing. */
export function NamedParts({ value, known }: Props) {
  const flow = useMemo(() => flowOf(value), [value]);
  if (flow === undefined || known === undefined) return null;
  const there = new Set(known.engines.flatMap(({ alive, plugins }) => (alive ? plugins : [])));
  const parts = [
    ...tasksOf(flow).map((name) => ({ kind: 'task' as const, name })),
    ...flowsOf(flow).map((name) => ({ kind: 'flow' as const, name })),
  ];
  if (parts.length === 0) return null;
  return (
    <section class="box" aria-labelledby="parts-title">
      <h2 id="parts-title">Names</h2>
      <ul class="parts">
        {parts.map(({ kind, name }) => (
          <Part
            key={`${kind} ${name}`}
            kind={kind}
            name={name}
            owner={flow.owner}
            known={known}
            there={there}
          />
        ))}
      </ul>
    </section>
  );
}

type PartProps = {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly owner: string;
  readonly known: KnownDefinitions;
  /** Plugins of the engines that live. */
  readonly there: ReadonlySet<string>;
};

function Part({ kind, name, owner, known, there }: PartProps) {
  const one = meant(known[`${kind}s`], name, owner);
  if (one === undefined) {
    return (
      <li>
        {name} <span class="status failed">no such {kind}</span>{' '}
        {mayAdmin.value && <Link href={`/${kind}s?new`}>Make it</Link>}
      </li>
    );
  }
  return (
    <li>
      <Link href={pageOf(kind, one.id)}>{name}</Link> <span class="muted">{kind}</span>{' '}
      {kind === 'task' && isMissing(one, there) && (
        <span class="status failed">no engine has its plugin</span>
      )}
    </li>
  );
}
