import { unreadKeys, type TooMuch } from '../model/unread.js';
import { isOfWork } from '../model/work.js';

/** A part of a text that is not to be read: the value of a member, or all members from there on. */
export type Cut = {
  readonly from: number;
  readonly to: number;
  readonly values: number;
  readonly tooMuch: TooMuch;
  readonly key: string;
};

/** How large the values at the top level of a document may be so that they are read. */
const most = {
  /** Of one of them, or of all large ones together: a job holds the parameters of its user and of its flow. */
  values: 200_000,
  depth: 200,
  /** In what engines write: a result of up to 64 KiB stands in the document. */
  writtenDepth: 1_000,
  keys: 10_000,
} as const;

/** What engines write into a job is as long as its work. */
const written = new Set([
  ...['steps', 'signals', 'requests', 'problems', 'notes', 'notifies', 'notifications', 'slice'],
  ...['tasks', 'definitions', 'flow_definition', 'result', 'failure', 'redo', 'data'],
]);

/** Members with fewer values are read in any case. */
const small = 1_000;

type Member = Omit<Cut, 'tooMuch'> & { readonly depth: number };

/** Takes down the members of documents as a text is looked through. Places are those in the text. */
export type Members = {
  /** A document begins. */
  readonly open: () => void;
  /** The value of a member begins there; so many values were seen before. */
  readonly begin: (key: string, from: number, values: number) => void;
  /** Something inside the document is nested so deeply in it. */
  readonly deeper: (depth: number) => void;
  readonly end: (to: number, values: number) => void;
  /** The document ends. */
  readonly close: (to: number) => void;
  readonly cuts: () => readonly Cut[];
};

export function createMembers(text: string): Members {
  const cuts: Cut[] = [];
  let large: Member[] = [];
  let facts = new Map<string, string>();
  let count = 0;
  let rest: { readonly from: number; readonly values: number } | undefined;
  let [key, from, before, depth] = ['', -1, 0, 0];
  let values = 0;
  return {
    open: () => {
      large = [];
      facts = new Map();
      rest = undefined;
      [count, from] = [0, -1];
    },
    begin: (name, place, seen) => {
      [key, from, before, depth] = [name, place, seen, 0];
    },
    deeper: (levels) => {
      if (levels > depth) depth = levels;
    },
    end: (to, seen) => {
      values = seen;
      if (from < 0) return;
      if (isFact(key) && to - from < longestFact) facts.set(key, text.slice(from, to).trim());
      const own = values - before;
      if (own > small || depth > most.depth) large.push({ key, from, to, values: own, depth });
      from = -1;
      count += 1;
      if (count === most.keys) rest = { from: to + 1, values };
    },
    close: (to) => {
      if (rest !== undefined && rest.from < to) {
        const { from: begin, values: seen } = rest;
        large = large.filter((member) => member.to < begin);
        cuts.push(...cutsOf(large, facts), {
          ...{ key: unreadKeys, from: begin, to, values: values - seen, tooMuch: 'values' },
        });
      } else cuts.push(...cutsOf(large, facts));
    },
    cuts: () => cuts,
  };
}

/** What is known of a document before it is read. */
const longestFact = 1_000;

function isFact(key: string): boolean {
  return key === 'type' || key === 'state' || key === 'name';
}

function cutsOf(large: readonly Member[], facts: ReadonlyMap<string, string>): readonly Cut[] {
  const isBegun = facts.get('type') === '"job"' && facts.has('state');
  const isAnswer = facts.get('type') === '"signal"' && isOfWork(facts.get('name')?.slice(1) ?? '');
  let sum = 0;
  return large.flatMap(({ depth, ...member }): readonly Cut[] => {
    const { key, values } = member;
    const isWritten = key === '_attachments' || (isBegun && written.has(key));
    if (isWritten || (isAnswer && key === 'data')) {
      return depth > most.writtenDepth ? [{ ...member, tooMuch: 'depth' }] : [];
    }
    if (depth > most.depth) return [{ ...member, tooMuch: 'depth' }];
    sum += values;
    return sum > most.values ? [{ ...member, tooMuch: 'values' }] : [];
  });
}
