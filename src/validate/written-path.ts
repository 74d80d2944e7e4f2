import { isObject } from '../model/object.js';
import { toJsonPath } from '../model/problems.js';
import type { FileProblem, Written } from './written.js';

type Note = Pick<FileProblem, 'path' | 'message'>;

/**
 * The same note with the path as the file has it: the checks see every flow in one form
 * (`tasks.sequence[2].task`), a file may hold a plain list of names (`tasks[2]`).
 */
export function asWritten<N extends Note>(note: N, doc: Written): N {
  const path = writtenPath(note.path, doc);
  if (path === note.path) return note;
  const { message } = note;
  const begins = message.startsWith(note.path);
  return { ...note, path, message: begins ? path + message.slice(note.path.length) : message };
}

function writtenPath(path: string, doc: Written): string {
  const kept: (string | number)[] = [];
  let value: unknown = doc;
  for (const key of keysOf(path)) {
    if (key === 'sequence' && Array.isArray(value)) continue;
    if (key === 'task' && typeof value === 'string') break;
    // One entry may stand for a sequence of one.
    if (key === 'sequence' && isObject(value) && value['sequence'] === undefined) return path;
    // What is tried stands beside its `catch`.
    if (key === 'try' && isObject(value) && value['try'] === undefined) continue;
    kept.push(key);
    value = isObject(value) || Array.isArray(value) ? Reflect.get(value, key) : undefined;
  }
  return toJsonPath(kept);
}

/** `tasks.sequence[2]["a b"]` -> `['tasks', 'sequence', 2, 'a b']`. */
function keysOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g)].map(
    ([, index, quoted, name = '']) => {
      if (index !== undefined) return Number(index);
      return quoted === undefined ? name : String(JSON.parse(quoted));
    },
  );
}
