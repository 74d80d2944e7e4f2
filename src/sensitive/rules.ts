import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package.js';

/** The text of `validate_doc_update` of a database of sensitive values, as its design document holds it. */
export function sensitiveRules(): string {
  const text = readFileSync(join(packageRoot(), 'couch', 'guard', 'sensitive.js'), 'utf8');
  return `function ${/^export default function \w+(.*\})$/ms.exec(text)?.[1]}`;
}
