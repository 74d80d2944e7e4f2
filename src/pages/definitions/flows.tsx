import { PageHead } from '../parts/page-head.js';

/** The page of flows. */
export function Flows() {
  return <PageHead title="Flows" />;
}
