import { Link } from 'wouter-preact';
import type { Origin } from '../../model/summary.js';
import { originSentence } from '../../reading/origin.js';

/** Says what started the job, with a link to the schedule or hook. */
export function StartedBy({ origin }: { readonly origin: Origin | undefined }) {
  if (origin === undefined) return null;
  const { kind, id, name = id } = origin;
  const sentence = originSentence(origin);
  const named = kind === 'schedule' ? name : id;
  const at = sentence.indexOf(` ${named}`) + 1;
  const words = at === 0 ? [sentence] : [sentence.slice(0, at), sentence.slice(at + named.length)];
  return (
    <p>
      {words[0]}
      {words.length > 1 && <OriginName kind={kind} id={id} name={named} />}
      {words[1]}
    </p>
  );
}

function OriginName({ kind, id, name }: Pick<Origin, 'kind' | 'id'> & { readonly name: string }) {
  if (kind === 'event' || kind === 'signal') return <code>{name}</code>;
  return <Link href={`/${kind}s/${encodeURIComponent(id)}`}>{name}</Link>;
}
