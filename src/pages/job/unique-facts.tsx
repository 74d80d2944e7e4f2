import { Link } from 'wouter-preact';
import { isObject } from '../../model/object.js';
import { readUnique, ruleOf, type Unique } from '../../model/unique.js';
import { lengthOf, listed } from '../../words.js';
import type { ExplainAnswer, StoredJob } from '../answers.js';
import { get } from '../api.js';
import { useLoaded } from '../live/use-loaded.js';
import { Fact } from '../parts/fact.js';
import { Ago } from '../parts/time.js';

/** The `unique` of a job or of its flow, and the job with the same key for which it was refused. */
export function UniqueFacts({ job: { id, document } }: { readonly job: StoredJob }) {
  const { unique: own, flow_definition: flow, failure } = document;
  const unique = readUnique(own ?? (isObject(flow) ? flow['unique'] : undefined));
  const other = isObject(failure) && failure['name'] === 'NotUnique' ? failure['job'] : undefined;
  return (
    <>
      {unique !== undefined && (
        <Fact name="Unique" value={`${keyWords(unique)}, ${timeWords(unique)}`} />
      )}
      {unique?.period !== undefined && <PeriodEnd id={id} />}
      {typeof other === 'string' && (
        <Fact
          name="Key taken by"
          value={<Link href={`/jobs/${encodeURIComponent(other)}`}>{other}</Link>}
        />
      )}
    </>
  );
}

/** When the period of the key ends; its lock tells, which is no part of the job. */
function PeriodEnd({ id }: { readonly id: string }) {
  const { value } = useLoaded(`period of ${id}`, (signal) =>
    get<ExplainAnswer>(`jobs/${encodeURIComponent(id)}/explain`, { signal }),
  );
  const reasons = value?.jobs[0]?.reasons ?? [];
  const until = reasons.find(({ kind }) => kind === 'unique_period')?.until;
  return until === undefined ? null : <Fact name="Key taken until" value={<Ago at={until} />} />;
}

function keyWords({ key, name }: Unique): string {
  const by =
    key === undefined
      ? 'by all parameters'
      : typeof key === 'string'
        ? `by ${key}`
        : `by ${listed(key)}`;
  return name === undefined ? by : `${by} among “${name}”`;
}

/** How long the job counts. */
function timeWords(unique: Unique): string {
  const { states, periodMs } = ruleOf(unique);
  const period = periodMs === undefined ? '' : `for ${lengthOf(periodMs)} after the submit`;
  const whileIn = states === undefined ? '' : `while ${states.join(', ')}`;
  return [period, whileIn].filter((part) => part !== '').join(' and ') || 'until it has ended';
}
