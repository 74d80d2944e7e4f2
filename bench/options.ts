import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/package.js';
import { storageKinds, type StorageKind } from '../src/storage-kinds.js';
import { productParts, type ProductPart } from './product-parts.js';

/** The benchmarks, in the order in which they run. */
export const benchNames = [
  'throughput',
  'latency',
  'claims',
  'winner',
  'feed',
  'guard',
  'steps',
  'map',
  'timers',
  'fair',
  'sleeping',
  'retention',
  'sign-in',
  'hostile',
  'pages',
  'ojs',
  'product',
] as const;
export type BenchName = (typeof benchNames)[number];

/** What was asked for on the command line. */
export type Options = {
  /** A CouchDB, with an admin's name and password; undefined: an embedded server of its own. */
  readonly url: string | undefined;
  /** What the embedded server keeps its databases in; undefined: what it takes by itself. */
  readonly storage: StorageKind | undefined;
  readonly only: readonly BenchName[];
  readonly engines: readonly number[];
  readonly slots: number;
  readonly jobs: number;
  readonly repeat: number;
  readonly latencyJobs: number;
  readonly claimEngines: readonly number[];
  readonly claimJobs: number;
  readonly trickleJobs: number;
  readonly trickleMs: number;
  readonly rounds: number;
  readonly changes: number;
  readonly steps: readonly number[];
  /** Lengths of lists that a map goes over. */
  readonly items: readonly number[];
  readonly sleeping: number;
  /** Ended jobs, of which retention keeps 1,000. */
  readonly retained: number;
  /** Hostile jobs of each kind. */
  readonly hostile: number;
  readonly hostileEngines: number;
  /** Kinds of hostile jobs; none: all. */
  readonly kinds: readonly string[];
  /** Jobs in the list of the admin pages. */
  readonly listed: number;
  /** What is measured of the product; it is built in this folder. */
  readonly parts: readonly ProductPart[];
  readonly checkout: string;
  /** Also lists what the way of the plainest job calls. */
  readonly list: boolean;
  /** Jobs of the backlogs of `ojs` and of the product. */
  readonly backlog: number;
  /** The projects of the product have a guard, where its revision may leave it out. */
  readonly guard: boolean;
  /** Copies that a cluster keeps of each document of the product's projects. */
  readonly copies: number;
  /** A revision that the product is compared with, so often. */
  readonly against: string | undefined;
  readonly times: number;
  /** A folder for CPU profiles of the engine processes. */
  readonly profile: string | undefined;
};

export const help = `npm run bench -- [flags]

  --url URL             a CouchDB, http://admin:password@host:port (default: the embedded server)
  --storage KIND        the embedded server's: ${storageKinds.join(' or ')} (default: leveldb)
  --only NAME           one benchmark, may be repeated: ${benchNames.join(', ')}
  --engines 1,2,4       throughput: numbers of engine processes
  --slots 10            attempts at the same time in each engine
  --jobs 300            throughput: jobs of three steps in a backlog
  --repeat 5            throughput: backlogs, each followed by the same raw writes
  --latency-jobs 100    latency: jobs, one after another
  --claim-engines 1,2,4,8
  --claim-jobs 100      claims: jobs of the backlog
  --trickle-jobs 60     claims: jobs of the trickle
  --trickle-ms 30       claims: time between two of them
  --rounds 10           winner: documents that 100 writers race for
  --changes 300         feed: documents written while one listens
  --steps 10,100        steps: lengths of jobs
  --items 100,500       map: lengths of lists
  --sleeping 10000      sleeping: jobs that sleep for a week
  --retained 100000     retention: ended jobs, of which 1,000 stay
  --hostile 3           hostile: jobs of each kind
  --hostile-engines 2
  --kind NAME           hostile: one kind, may be repeated
  --listed 10000        pages: jobs in the list of the admin pages
  --part NAME           product: one part, may be repeated: ${productParts.join(', ')}
  --list                product, part way: also each file with what is called in it
  --backlog 2000        ojs, product: jobs of the backlog
  --no-guard            product: projects without the guard, where the revision can do without
  --copies 1            product: copies of each document, in a cluster
  --checkout DIR        product: a built checkout of another revision (default: this one)
  --against REF         product of this checkout and of a revision alternately, --times 3: medians,
                        spreads and ratios
  --full                steps and sleeping with 1,000 steps and 100,000 jobs, map with
                        10,000 items, hostile with 300 jobs of each kind: hours more
  --profile DIR         writes a CPU profile of each engine process
`;

/** Reads the flags. `help`: only the text is wanted. @throws Error that names the wrong flag */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      url: { type: 'string' },
      storage: { type: 'string' },
      only: { type: 'string', multiple: true },
      engines: { type: 'string', default: '1,2,4' },
      slots: { type: 'string', default: '10' },
      jobs: { type: 'string', default: '300' },
      repeat: { type: 'string', default: '5' },
      'latency-jobs': { type: 'string', default: '100' },
      'claim-engines': { type: 'string', default: '1,2,4,8' },
      'claim-jobs': { type: 'string', default: '100' },
      'trickle-jobs': { type: 'string', default: '60' },
      'trickle-ms': { type: 'string', default: '30' },
      rounds: { type: 'string', default: '10' },
      changes: { type: 'string', default: '300' },
      steps: { type: 'string' },
      items: { type: 'string' },
      sleeping: { type: 'string' },
      retained: { type: 'string', default: '100000' },
      hostile: { type: 'string' },
      'hostile-engines': { type: 'string', default: '2' },
      kind: { type: 'string', multiple: true },
      listed: { type: 'string', default: '10000' },
      full: { type: 'boolean', default: false },
      part: { type: 'string', multiple: true },
      list: { type: 'boolean', default: false },
      backlog: { type: 'string', default: '2000' },
      copies: { type: 'string', default: '1' },
      'no-guard': { type: 'boolean', default: false },
      checkout: { type: 'string' },
      against: { type: 'string' },
      times: { type: 'string', default: '3' },
      profile: { type: 'string' },
    },
  });
  if (values.help) return 'help';
  const sizes = { ...(values.full ? fullSizes : usualSizes), ...values };
  const one = (name: Sized): number => numberOf(name, sizes[name]);
  const many = (name: Sized): readonly number[] =>
    sizes[name].split(',').map((text) => numberOf(name, text));
  return {
    url: values.url,
    storage:
      values.storage === undefined ? undefined : oneOf('storage', storageKinds, values.storage),
    only: (values.only ?? benchNames).map((name) => oneOf('only', benchNames, name)),
    engines: many('engines'),
    slots: one('slots'),
    jobs: one('jobs'),
    repeat: one('repeat'),
    latencyJobs: one('latency-jobs'),
    claimEngines: many('claim-engines'),
    claimJobs: one('claim-jobs'),
    trickleJobs: one('trickle-jobs'),
    trickleMs: one('trickle-ms'),
    rounds: one('rounds'),
    changes: one('changes'),
    steps: many('steps'),
    items: many('items'),
    sleeping: one('sleeping'),
    retained: one('retained'),
    hostile: one('hostile'),
    hostileEngines: one('hostile-engines'),
    kinds: values.kind ?? [],
    listed: one('listed'),
    parts: (values.part ?? productParts).map((name) => oneOf('part', productParts, name)),
    checkout: values.checkout === undefined ? ownRoot : resolve(values.checkout),
    list: values.list,
    backlog: one('backlog'),
    guard: !values['no-guard'],
    copies: one('copies'),
    against: values.against,
    times: one('times'),
    profile: values.profile,
  };
}

const usualSizes = { steps: '10,100', items: '100,500', sleeping: '10000', hostile: '3' };
const fullSizes = {
  ...{ steps: '10,100,1000', items: '100,500,10000' },
  ...{ sleeping: '100000', hostile: '300' },
};

const ownRoot = packageRoot(fileURLToPath(new URL('.', import.meta.url)));

type Sized =
  | 'backlog'
  | 'copies'
  | 'times'
  | 'hostile'
  | 'hostile-engines'
  | 'listed'
  | 'engines'
  | 'slots'
  | 'jobs'
  | 'repeat'
  | 'latency-jobs'
  | 'claim-engines'
  | 'claim-jobs'
  | 'trickle-jobs'
  | 'trickle-ms'
  | 'rounds'
  | 'changes'
  | 'steps'
  | 'items'
  | 'sleeping'
  | 'retained';

function numberOf(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new Error(`--${flag}: "${text}" is not a whole number above 0.`);
}

function oneOf<N extends string>(flag: string, names: readonly N[], text: string): N {
  const found = names.find((known) => known === text);
  if (found === undefined) {
    throw new Error(`--${flag}: there is no "${text}"; there are ${names.join(', ')}.`);
  }
  return found;
}
