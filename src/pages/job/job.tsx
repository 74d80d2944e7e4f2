import { PageHead } from '../parts/page-head.js';

/** The page of one: `id` is what the address says. */
export function Job({ id }: { readonly id: string }) {
  return <PageHead title={id} />;
}
