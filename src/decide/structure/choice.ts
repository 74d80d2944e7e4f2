import { below, childPath, type Choice } from '../../model/tree.js';
import { markAt } from '../marks.js';
import { done, type Interpreting, type Progress } from './progress.js';

/** The first case whose condition holds, else the default, else nothing. The step says which. */
export function choiceProgress(node: Choice, path: string, { job, visit }: Interpreting): Progress {
  const chosen = markAt(job, path)?.chosen;
  if (chosen === 'default' && node.default !== undefined) {
    return visit(node.default, below(path, 'default'));
  }
  const taken = typeof chosen === 'number' ? node.choice[chosen] : undefined;
  return taken === undefined ? done : visit(taken.then, childPath(path, 'choice', Number(chosen)));
}
