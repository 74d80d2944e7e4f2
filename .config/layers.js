import { dirname, join, relative, sep } from 'node:path';

/**
 * The layers of the code: what each folder or file of src may import from the others, types included.
 * An entry is a folder with all in it, a file (`client.ts`), or a part of a folder without its
 * extension (`plugin/egress`). Where nothing else helps, a single file has a row of its own below.
 */
const layers = {
  words: [],
  log: [],
  memo: [],
  'keyed-queue': [],
  turns: [],
  // The time by which engines go: that of the machine, or a virtual one.
  clock: ['turns'],
  package: [],
  guard: ['package'],
  'lock-id': [],
  'processor-time': [],
  'make-folder': [],
  'storage-kinds': [],
  replicator: [],
  errors: ['words'],
  'text-file': ['errors'],
  // What there is, how it stands, what happens next: pure.
  model: [],
  structures: ['model', 'words'],
  reading: ['model', 'structures', 'words'],
  decide: ['model', 'structures', 'reading', 'words'],
  picture: ['model', 'structures', 'reading', 'words'],
  // What does the work.
  secrets: ['model', 'errors', 'memo'],
  // Values about people, in databases of their own.
  sensitive: ['model', 'errors', 'secrets', 'store', 'package'],
  plugin: ['model', 'secrets', 'words', 'processor-time', 'package'],
  // Tasks of node-workflow as plugins, and the import of its workflows.
  'node-workflow': ['plugin', 'model', 'structures', 'reading', 'errors', 'words'],
  // The texts of users: templates, expressions, patterns, schemas.
  evaluate: ['model', 'decide', 'plugin', 'memo'],
  store: ['model', 'errors', 'memo', 'turns', 'package'],
  // The same contract, kept in memory.
  memory: ['model', 'errors', 'store', 'embedded/views/collation'],
  replicas: ['model', 'structures', 'reading', 'decide', 'store', 'memo'],
  'replicas/resolve': ['model', 'structures', 'reading', 'decide'],
  engine: [
    ...['model', 'structures', 'reading', 'decide', 'replicas', 'store', 'plugin', 'secrets'],
    ...[
      'evaluate',
      'errors',
      'words',
      'log',
      'memo',
      'turns',
      'clock',
      'lock-id',
      'package',
      'processor-time',
    ],
  ],
  // What people and programs ask. A check knows how engines merge parameters and what seals them.
  validate: [
    ...['model', 'structures', 'reading', 'evaluate', 'plugin', 'secrets', 'package'],
    ...['decide/start/params', 'decide/start/sealed'],
  ],
  client: [
    ...['model', 'structures', 'reading', 'decide', 'evaluate', 'store', 'validate'],
    ...['errors', 'guard', 'words', 'lock-id', 'turns', 'make-folder', 'replicator', 'memo'],
    'keyed-queue',
    // A submit takes the lock of a key as engines do.
    ...['replicas/unique-lock', 'replicas/unique-holder', 'replicas/lock-holder'],
    'replicas/resolve',
    // To explain a job is to ask the rules about it: it reads children as engines do.
    'engine/children/find-child',
  ],
  // The part of it that brings the rules along: half of the time in which a command starts.
  'client-rules': ['client'],
  config: [
    'model',
    'errors',
    'plugin/egress',
    'plugin/code-policy',
    'secrets/older-format',
    'storage-kinds',
    'text-file',
  ],
  http: [
    ...['client.ts', 'client-rules.ts', 'validate', 'config', 'model', 'structures', 'reading'],
    ...['errors', 'words', 'log', 'package', 'plugin/loader', 'node-workflow', 'sensitive', 'memo'],
  ],
  pages: ['model', 'structures', 'reading', 'picture', 'words'],
  metrics: ['client.ts', 'engine/meters'],
  mailbox: ['errors', 'plugin/packages'],
  embedded: [
    ...['errors', 'guard', 'package', 'processor-time', 'storage-kinds', 'replicator', 'memo'],
    ...['keyed-queue', 'model/percent'],
  ],
  cli: [
    // Test cases of flows run on engines of their own.
    'testing',
    ...['client.ts', 'client-rules.ts', 'validate', 'config', 'model', 'structures', 'reading'],
    ...['picture', 'storage-kinds'],
    ...['errors', 'words', 'log', 'package', 'http', 'metrics', 'mailbox', 'plugin', 'secrets'],
    ...['make-folder', 'node-workflow', 'sensitive', 'memo', 'text-file'],
  ],
  // What tests of users import.
  testing: [
    ...['clock', 'memory', 'engine', 'plugin', 'model', 'structures', 'reading', 'store', 'errors'],
    ...['validate', 'embedded', 'words', 'evaluate'],
  ],
  index: ['client.ts', 'config', 'engine', 'errors', 'model', 'plugin', 'reading', 'store'],
  // The plugins that are shipped are examples: they know what every plugin knows.
  plugins: ['plugin/index'],
};

/** Files that may import more than their folder. */
const more = {
  // It starts engines.
  'cli/engine-run': ['engine'],
  // It starts the embedded server.
  'cli/embedded': ['embedded'],
  'cli/doctor/definitions': ['evaluate/patterns'],
  // It asks who blocks a job, as engines do.
  'client/holder': ['engine/locks/blockers'],
  // The package of S3 is installed only where it is used.
  'client/archive/bucket': ['plugin/packages'],
  // It asks who has the permits that a job waits for.
  'client/permits': ['engine/locks/permit-holders', 'replicas/lock-holder'],
};

/** The packages of folders that may import few. */
const packages = {
  model: ['zod'],
  structures: ['zod'],
  reading: ['zod'],
  decide: [],
  'replicas/resolve': [],
  picture: ['@dagrejs/dagre'],
};

/** Packages that one folder alone may import. */
const owned = { nano: 'store' };

const root = join(import.meta.dirname, '..');

/** `src/http/server.ts` -> `http/server`, `plugins/noop.ts` -> `plugins/noop`. */
const nameOf = (path) => path.replace(/^src\//, '').replace(/\.\w+$/, '');

const isWithin = (name, folder) => name === folder || name.startsWith(`${folder}/`);

/** The row of a file: that of its innermost folder. */
function layerOf(name) {
  const rows = Object.keys(layers).filter((row) => isWithin(name, row));
  return rows.toSorted((a, b) => b.length - a.length)[0];
}

const isIn = (path, entries) =>
  entries.some((entry) => path === entry || isWithin(nameOf(path), entry));

/** Why a file may not import what `specifier` names, or undefined. */
function refusal(file, specifier) {
  const from = nameOf(relative(root, file).split(sep).join('/'));
  const layer = layerOf(from);
  if (layer === undefined) return `${from} has no row`;
  return specifier.startsWith('.')
    ? refusedFile(from, layer, join(dirname(file), specifier))
    : refusedPackage(layer, specifier);
}

function refusedPackage(layer, specifier) {
  const owner = owned[specifier];
  if (owner !== undefined && owner !== layer) return `only ${owner} may import ${specifier}`;
  if (layer === 'pages' && specifier.startsWith('node:')) return 'pages run in a browser';
  const few = packages[layer];
  return few === undefined || few.includes(specifier)
    ? undefined
    : `${layer} may not import the package ${specifier}`;
}

function refusedFile(from, layer, file) {
  const target = relative(root, file).split(sep).join('/');
  if (!target.startsWith('src/')) return undefined;
  const path = target.slice('src/'.length).replace(/\.js$/, '.ts');
  const allowed = [layer, ...layers[layer], ...(more[from] ?? [])];
  return isIn(path, allowed) ? undefined : `${layer} may not import ${path}`;
}

/** The rule that holds the layers. */
export const layersRule = {
  meta: { type: 'problem', schema: [], messages: { layer: '{{why}} (see .config/layers.js).' } },
  create(context) {
    const check = (node, source) => {
      if (typeof source?.value !== 'string') return;
      const why = refusal(context.filename, source.value);
      if (why !== undefined) context.report({ node, messageId: 'layer', data: { why } });
    };
    return {
      ImportDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source),
      TSImportType: (node) => check(node, node.source),
    };
  },
};
