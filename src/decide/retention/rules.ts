import { archiveName, isPlace, type WrittenArchive } from '../../model/archive.js';
import { canonical } from '../../model/canonical.js';
import { readRetain, type EndedStatus, type Retain, type RetainLimit } from '../../model/retain.js';
import { defaultOwner, keyOf } from '../../model/task.js';
import { ownArchive, type UsualArchive } from './own-archive.js';

/** How long ended jobs stay. */
export type RetentionRules = {
  /**
   * All flows by `name::owner`, with their rules. `usual`: it says nothing; `unreadable`: none of its jobs is
   * removed.
   */
  readonly flows: ReadonlyMap<string, Retain | 'usual' | 'unreadable'>;
  /** The default; absent: jobs stay where their flow says nothing. */
  readonly usual: Retain | undefined;
};

/** What a flow document says that cannot be followed. */
export type RetainProblem = { readonly flow: string; readonly message: string };

type FlowDocument = Readonly<Record<string, unknown>>;

/**
 * Reads the rules from all flows of a database. A flow whose `retain` cannot be read, or whose documents do
 * not agree on it, is told, and its jobs stay: neither its rule nor the default is guessed. `jobs`: the name of the
 * database.
 */
export function retentionRules(
  flows: readonly FlowDocument[],
  usual: Retain | undefined,
  jobs: string,
): { readonly rules: RetentionRules; readonly problems: readonly RetainProblem[] } {
  const written = new Map<string, unknown>();
  const read = new Map<string, Retain | 'usual' | 'unreadable'>();
  const problems: RetainProblem[] = [];
  for (const { name, owner, retain } of flows) {
    const flow = keyOf(String(name), String(owner));
    const isSecond = written.has(flow);
    if (isSecond && canonical(written.get(flow)) === canonical(retain)) continue;
    const { rule = 'usual', messages: found } = readRule(retain, {
      usual: usual?.archive ?? {},
      jobs,
    });
    const messages = isSecond ? [differs] : found;
    problems.push(...messages.map((message) => ({ flow, message })));
    read.set(flow, messages.length > 0 ? 'unreadable' : rule);
    written.set(flow, retain);
  }
  return { rules: { flows: read, usual }, problems };
}

function readRule(
  written: unknown,
  to: UsualArchive,
): { readonly rule?: Retain; readonly messages: readonly string[] } {
  const { rule, problems } = readRetain(written);
  const messages = problems.map(({ message }) => message);
  if (rule?.archive === undefined) return { ...(rule !== undefined && { rule }), messages };
  const own = ownArchive(rule.archive, to);
  return 'refused' in own
    ? { messages: [own.refused] }
    : { rule: { ...rule, archive: own.archive }, messages };
}

const differs = 'retain is not the same in all documents of this flow.';

/** What the rule for a job goes by. */
export type JobKind = {
  readonly flow: string;
  readonly owner: string;
  readonly status: EndedStatus;
};

/**
 * Returns the limits for jobs of a kind; undefined: they stay. A job runs the flow of its owner, else that of
 * DEFAULT, and is kept by the same one.
 */
export function limitFor(rules: RetentionRules, kind: JobKind): RetainLimit | undefined {
  const rule = ruleFor(rules, kind);
  if (rule === 'unreadable') return undefined;
  return (rule === 'usual' ? rules.usual : rule)?.[kind.status];
}

/**
 * Returns where jobs of a kind are copied to before they are removed; undefined: nowhere. What a flow does
 * not say the default says, also for a flow with limits of its own.
 */
export function archiveFor(rules: RetentionRules, kind: JobKind): WrittenArchive | undefined {
  const rule = ruleFor(rules, kind);
  const own = typeof rule === 'object' ? rule.archive : undefined;
  const archive = own ?? rules.usual?.archive;
  return archive !== undefined && isPlace(archive) ? archive : undefined;
}

/** Returns all places that jobs are copied to, each once. */
export function archivesIn({ flows, usual }: RetentionRules): readonly WrittenArchive[] {
  const places = [usual, ...flows.values()].flatMap((rule): readonly WrittenArchive[] => {
    const archive = typeof rule === 'object' ? rule.archive : undefined;
    return archive === undefined || !isPlace(archive) ? [] : [archive];
  });
  return [...new Map(places.map((place) => [canonical(place), place])).values()];
}

/** What is kept of a flow's jobs; without `flow`: of those whose flow says nothing. `archive`: name of the place. */
export type ToldRule = {
  readonly flow?: string;
  readonly limits: Readonly<Partial<Record<EndedStatus, RetainLimit>>>;
  readonly archive?: string;
};

/** Returns the default and the rules of single flows, for people. */
export function toldRules({ flows, usual }: RetentionRules): readonly ToldRule[] {
  const tell = ({ archive, ...limits }: Retain): ToldRule => {
    const place = archive ?? usual?.archive;
    return { limits, ...(place && isPlace(place) && { archive: archiveName(place) }) };
  };
  const own = [...flows].flatMap(([flow, rule]) =>
    typeof rule === 'object' ? [{ flow, ...tell(rule) }] : [],
  );
  return [...(usual === undefined ? [] : [tell(usual)]), ...own];
}

function ruleFor({ flows }: RetentionRules, { flow, owner }: JobKind) {
  return flows.get(keyOf(flow, owner)) ?? flows.get(keyOf(flow, defaultOwner)) ?? 'usual';
}
