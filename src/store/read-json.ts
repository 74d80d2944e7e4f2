import { randomUUID } from 'node:crypto';
import { Unread, unreadKeys } from '../model/unread.js';
import { createTurns, nextTurn } from '../turns.js';
import type { Cut } from './document-members.js';
import { parsePieces } from './parse-pieces.js';
import { weighJson, type Holding } from './weigh-json.js';

/** A text of so many characters is read in a few milliseconds, whatever it holds. */
const shortText = 65_536;
/** So many values are read in a few milliseconds. */
const fewValues = 10_000;

/**
 * Reads the JSON of an answer of the database, however large it is, without holding up the event loop.
 * What is too large in a document stays text (`Unread`). Answers undefined when it is no JSON.
 */
export async function readJson(text: string, holding: Holding): Promise<unknown> {
  if (text.length <= shortText) return parsed(text);
  await nextTurn();
  const weight = await weighJson(text, holding);
  if (weight === undefined) return undefined;
  const { cuts } = weight;
  if (cuts.length === 0) return readAll(text, weight.values);
  const mark = randomUUID();
  const values = cuts.reduce((sum, cut) => sum - cut.values, weight.values);
  const value = await readAll(without(text, cuts, mark), values);
  await putBack(value, { text, cuts, mark }, holding);
  return value;
}

async function readAll(text: string, values: number): Promise<unknown> {
  return values <= fewValues ? parsed(text) : parsePieces(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The text with a mark in the place of each part that is not read. */
function without(text: string, cuts: readonly Cut[], mark: string): string {
  const ordered = [...cuts.entries()].sort(([, a], [, b]) => a.from - b.from);
  const parts: string[] = [];
  let at = 0;
  for (const [i, { key, from, to }] of ordered) {
    const name = key === unreadKeys ? `${JSON.stringify(unreadKeys)}:` : '';
    parts.push(text.slice(at, from), `${name}"${mark}${i}"`);
    at = to;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

type Marked = { readonly text: string; readonly cuts: readonly Cut[]; readonly mark: string };

/** Puts what was not read where its mark is. */
async function putBack(
  value: unknown,
  { text, cuts, mark }: Marked,
  holding: Holding,
): Promise<void> {
  const turns = createTurns();
  for (const doc of documentsIn(value, holding)) {
    for (const [key, found] of Object.entries(doc)) {
      if (typeof found !== 'string' || !found.startsWith(mark)) continue;
      const cut = cuts[Number(found.slice(mark.length))];
      if (cut === undefined) continue;
      doc[key] = new Unread(text.slice(cut.from, cut.to), cut.tooMuch);
    }
    const turn = turns();
    if (turn !== undefined) await turn;
  }
}

type Json = Record<string, unknown>;

/** The documents of an answer, which were made by reading it and are nobody else's yet. */
function documentsIn(value: unknown, holding: Holding): readonly Json[] {
  switch (holding) {
    case 'document':
      return [value].filter(isJson);
    case 'line':
      return [(value as Json | undefined)?.['doc']].filter(isJson);
    case 'revisions':
      return listOf(value).flatMap(({ ok }) => [ok].filter(isJson));
    case 'rows': {
      const { rows, results } = (value ?? {}) as { rows?: unknown; results?: unknown };
      return [...listOf(rows), ...listOf(results)].flatMap(({ doc }) => [doc].filter(isJson));
    }
    case 'nothing':
      return [];
  }
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
