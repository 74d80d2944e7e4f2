import { PageHead } from '../parts/page-head.js';

/** The page of one: `flow` is what the address says. */
export function Submit({ flow }: { readonly flow: string }) {
  return <PageHead title={flow} />;
}
