import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../src/package.js';
import { percentile, type Figure } from './figure.js';

/** A line that a benchmark prints. */
type Line = Figure & { readonly bench: string; readonly store: string };

/**
 * Measures this checkout and another revision of the project alternately, so often, and prints the
 * medians of both, their spreads and the ratio of the medians, a line of JSON for each figure.
 * @param args the flags of the benchmark `product` for both
 */
export async function against(ref: string, times: number, args: readonly string[]): Promise<void> {
  const here = packageRoot(fileURLToPath(new URL('.', import.meta.url)));
  const there = prepare(here, ref);
  const figures = new Map<string, { readonly line: Line; here: number[]; there: number[] }>();
  for (let round = 0; round < times; round += 1) {
    // Who begins changes, so that what slowly changes on the machine touches both alike.
    const order = (['there', 'here'] as const).map((_, i, all) => all[(i + round) % 2] ?? 'here');
    for (const side of order) {
      process.stderr.write(`round ${round + 1} of ${times}: ${side === 'here' ? 'this' : ref}\n`);
      for await (const line of measure(side === 'here' ? here : there, args)) {
        const { value, ...conditions } = line;
        const key = JSON.stringify(conditions);
        const row = figures.get(key) ?? { line, here: [], there: [] };
        row[side].push(value);
        figures.set(key, row);
      }
    }
  }
  for (const { line, ...values } of figures.values()) {
    const [value, before] = [percentile(values.here, 0.5), percentile(values.there, 0.5)];
    const spreads = { spread: spreadOf(values.here), beforeSpread: spreadOf(values.there) };
    process.stdout.write(
      `${JSON.stringify({ ...line, value, before, ratio: Number((value / before).toPrecision(3)), ...spreads })}\n`,
    );
    const { figure, unit, bench: _bench, store: _store, value: _value, part, ...conditions } = line;
    const told = Object.entries(conditions).map(([name, of]) => `${name} ${String(of)}`);
    const text = `${String(part)}: ${figure} (${told.join(', ')})`;
    process.stderr.write(
      `${text.padEnd(76)} ${before} -> ${value} ${unit}  x${(value / before).toFixed(2)}\n`,
    );
  }
}

/** Clones, installs and builds a revision, unless that was done before; returns its folder. */
function prepare(root: string, ref: string): string {
  const commit = execFileSync('git', ['rev-parse', '--verify', `${ref}^{commit}`], {
    ...{ cwd: root, encoding: 'utf8' },
  }).trim();
  // Not below node_modules: what is built there is no package to the compiler.
  const dir = join(tmpdir(), 'tws-bench-against', commit);
  const run = (cwd: string, program: string, ...args: string[]): void => {
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  if (existsSync(join(dir, 'dist', '.built'))) return dir;
  process.stderr.write(`Building ${ref} ...\n`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  run(root, 'git', 'clone', '--quiet', '--no-checkout', root, dir);
  run(dir, 'git', 'checkout', '--quiet', commit);
  run(dir, 'npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error');
  run(dir, 'npm', 'run', 'build', '--silent');
  return dir;
}

async function* measure(checkout: string, args: readonly string[]): AsyncGenerator<Line> {
  const main = fileURLToPath(new URL('main.js', import.meta.url));
  const own = ['--only', 'product', '--checkout', checkout];
  const child = spawn(process.execPath, [main, ...own, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  for await (const line of createInterface(child.stdout)) yield JSON.parse(line) as Line;
  const status = await ended;
  if (status !== 0) throw new Error(`The benchmark of ${checkout} failed.`);
}

/** The least and the greatest. */
function spreadOf(values: readonly number[]): readonly [number, number] {
  return [Math.min(...values), Math.max(...values)];
}
