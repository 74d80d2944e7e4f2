import { PageHead } from '../parts/page-head.js';

/** The page of jobs. */
export function Jobs() {
  return <PageHead title="Jobs" />;
}
