import { PageHead } from '../parts/page-head.js';

/** The page of overview. */
export function Overview() {
  return <PageHead title="Overview" />;
}
