import { PageHead } from '../parts/page-head.js';

/** The page of tasks. */
export function Tasks() {
  return <PageHead title="Tasks" />;
}
