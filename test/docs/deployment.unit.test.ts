import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments, type Document } from 'yaml';
import { commands, globalOptions } from '../../src/cli/program.js';
import { buildProgram, type Chosen } from '../../src/cli/program-builder.js';
import { settings } from '../../src/config/table.js';
import { createPrometheus } from '../../src/metrics/prometheus.js';
import type { Client, Pulse } from '../../src/client.js';
import type { Outcome } from '../../src/decide/finish/outcome.js';
import { routes } from '../../src/http/routes.js';
import { fullPath } from '../../src/http/route.js';
import { blocksIn, root, textOf } from './pages.js';

const { version } = JSON.parse(textOf('package.json')) as { readonly version: string };

/** Whether a command line of tws, without its name, is one that it knows. */
async function isCommand(args: readonly string[]): Promise<boolean> {
  const chosen: Chosen[] = [];
  const program = buildProgram({ commands, globalOptions, version }, (one) => chosen.push(one));
  await program.parseAsync(args, { from: 'user' });
  return chosen.length === 1;
}

type Service = {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly extends?: { readonly file: string; readonly service: string };
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};

/** Reads a file of Compose. `!reset` is a tag of Compose alone. */
function composeOf(path: string): Compose {
  const customTags = [{ tag: '!reset', collection: 'seq' as const, resolve: () => [] }];
  return parse(textOf(path), { merge: true, customTags }) as Compose;
}

describe('compose.yaml', () => {
  const { services, volumes } = composeOf('compose.yaml');

  it('runs commands that tws has, once the database is there', async () => {
    for (const name of ['init', 'engine']) {
      expect(await isCommand(services[name]?.command ?? [])).toBe(true);
    }
    expect(services['init']?.depends_on).toEqual({ couchdb: { condition: 'service_healthy' } });
    expect(services['engine']?.depends_on).toEqual({
      init: { condition: 'service_completed_successfully' },
    });
    expect(services['couchdb']?.healthcheck?.test).toContain('curl');
  });

  it('names volumes that it declares and gives an engine time to drain', () => {
    const named = Object.values(services)
      .flatMap((service) => service.volumes ?? [])
      .map((volume) => volume.split(':')[0] ?? '')
      .filter((source) => /^[\w-]+$/.test(source));
    for (const source of named) expect(Object.keys(volumes)).toContain(source);
    const grace = Number.parseInt(services['engine']?.stop_grace_period ?? '', 10) * 1_000;
    expect(grace).toBeGreaterThan(settings.drain.usual);
  });

  it('asks for the password and holds none', () => {
    expect(services['couchdb']?.environment?.['COUCHDB_PASSWORD']).toMatch(
      /^\$\{COUCHDB_PASSWORD:\?/,
    );
  });
});

describe('compose.cluster.yaml', () => {
  const { services } = composeOf('compose.cluster.yaml');
  const nodes = ['couchdb', 'couchdb-2', 'couchdb-3'];

  it('gives each node a name with a dot, the same secret, and joins exactly these', () => {
    const names = nodes.map((node) => services[node]?.environment?.['NODENAME'] ?? '');
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toContain('.');
    expect(new Set(nodes.map((node) => services[node]?.environment?.['COUCHDB_SECRET'])).size).toBe(
      1,
    );
    const [program, script, ...joined] = services['join']?.entrypoint ?? [];
    expect([program, joined]).toEqual(['node', names]);
    const [folder = ''] = (services['join']?.volumes?.[0] ?? '').split(':');
    expect(existsSync(join(root, folder, posix.basename(script ?? '')))).toBe(true);
  });

  it('makes a database with a copy on each node, and extends an engine that there is', async () => {
    expect(services['init']?.command).toEqual(['init', '--no-confirm', '--copies', '3']);
    expect(await isCommand(services['init']?.command ?? [])).toBe(true);
    const { file = '', service = '' } = services['engine-2']?.extends ?? {};
    expect(Object.keys(composeOf(file).services)).toContain(service);
  });
});

describe('the manifests for Kubernetes', () => {
  type Manifest = { readonly kind: string; readonly spec: unknown };
  const all = (parseAllDocuments(textOf('docs/operations/kubernetes.yaml')) as Document[]).map(
    (doc) => doc.toJS() as Manifest,
  );
  type Container = {
    readonly image: string;
    readonly args: readonly string[];
    readonly envFrom: readonly { readonly secretRef?: { readonly name: string } }[];
    readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
    readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  };
  type Spec = {
    readonly template: {
      readonly spec: {
        readonly containers: readonly Container[];
        readonly terminationGracePeriodSeconds?: number;
      };
    };
  };
  const podOf = (kind: string) =>
    (all.find((one) => one.kind === kind)?.spec as Spec).template.spec;

  it('run commands of this version', async () => {
    for (const kind of ['Job', 'StatefulSet']) {
      for (const { args, image } of podOf(kind).containers) {
        expect(await isCommand(args)).toBe(true);
        expect(image).toMatch(new RegExp(`:${version}$`));
      }
    }
  });

  it('probe addresses of the API and give an engine time to drain', () => {
    const { containers, terminationGracePeriodSeconds = 0 } = podOf('StatefulSet');
    const known = routes.map((route) => fullPath(route));
    for (const { livenessProbe, readinessProbe } of containers) {
      expect(known).toContain(livenessProbe?.httpGet.path);
      expect(known).toContain(readinessProbe?.httpGet.path);
    }
    expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(settings.drain.usual);
  });

  it('name secrets that the page creates', () => {
    const page = textOf('docs/operations/kubernetes.md');
    for (const kind of ['Job', 'StatefulSet']) {
      const names = podOf(kind).containers.flatMap(({ envFrom }) =>
        envFrom.flatMap(({ secretRef }) => (secretRef === undefined ? [] : [secretRef.name])),
      );
      expect(names).toHaveLength(1);
      for (const name of names) expect(page).toContain(`create secret generic ${name} `);
    }
  });
});

describe('dashboard and alerts', () => {
  /** Names of all metrics that a process has. */
  async function metricNames(): Promise<readonly string[]> {
    const figures = createPrometheus();
    const client = { count: async () => ({}), engines: async () => [] } as unknown as Client;
    figures.watch(client, { look: () => [] } as unknown as Pulse);
    const text = await figures.render();
    return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
    );
  }
  const named = (text: string): readonly string[] =>
    [...text.matchAll(/\b(?:tws|nodejs|process)_\w+/g)].map(([name]) => name);

  it('count every outcome of an attempt that is a failure', () => {
    const failures = ['failed', 'timeout', 'silent'] satisfies readonly Outcome['kind'][];
    for (const file of ['alerts.yaml', 'grafana-dashboard.json']) {
      const asked = [...textOf(`docs/operations/${file}`).matchAll(/outcome(\S+?)\\?"([\w|]+)/g)];
      expect(
        asked.map(([, how, value]) => `${how}${value}`),
        file,
      ).toEqual([`=~${failures.join('|')}`]);
    }
  });

  it('read metrics that there are', async () => {
    const known = await metricNames();
    const dashboard = textOf('docs/operations/grafana-dashboard.json');
    const { panels } = JSON.parse(dashboard) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
    };
    const { groups } = parse(textOf('docs/operations/alerts.yaml')) as {
      readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[];
    };
    const asked = [
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ];
    expect(asked.length).toBeGreaterThan(15);
    for (const expr of asked) {
      for (const name of named(expr)) expect(known, expr).toContain(name);
      expect((expr.match(/\(/g) ?? []).length, expr).toBe((expr.match(/\)/g) ?? []).length);
    }
  });
});

it('the YAML in the pages can be read', () => {
  for (const { text } of blocksIn('yaml')) expect(parse(text)).toBeTypeOf('object');
});

it('files that name a version name the one of the package', () => {
  const files = [
    'compose.yaml',
    'compose.cluster.yaml',
    'docs/operations/containers.md',
    'README.md',
  ];
  const pages = ['docs/operations/systemd.md', 'docs/tutorial.md', 'docs/development.md'];
  for (const path of [...files, ...pages]) {
    const found = [...textOf(path).matchAll(/tws[:-](\d+\.\d+\.\d+)/g)].map(([, one]) => one);
    expect(found.length, path).toBeGreaterThan(0);
    expect(new Set(found), path).toEqual(new Set([version]));
  }
});

it('the unit of systemd runs a command that tws has and gives it time to drain', async () => {
  const unit = textOf('docs/operations/tws@.service');
  const [, call = ''] = /^ExecStart=\/usr\/bin\/env tws (.*)$/m.exec(unit) ?? [];
  expect(await isCommand(call.replaceAll('%i', '5985').split(' '))).toBe(true);
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  expect(Number(seconds) * 1_000).toBeGreaterThan(settings.drain.usual);
});

it('the security checklist names every route that is open', () => {
  const named = [...textOf('docs/operations/security.md').matchAll(/`(\/[^`]+)`/g)];
  const isNamed = (path: string): boolean =>
    named.some(
      ([, one = '']) => one === path || (one.endsWith('*') && path.startsWith(one.slice(0, -1))),
    );
  const open = routes.filter(({ access }) => access === 'open').map((route) => fullPath(route));
  expect(open.length).toBeGreaterThan(5);
  for (const path of open) expect(isNamed(path), path).toBe(true);
});
