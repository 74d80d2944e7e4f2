import { PageHead } from '../parts/page-head.js';

/** The page of engines. */
export function Engines() {
  return <PageHead title="Engines" />;
}
