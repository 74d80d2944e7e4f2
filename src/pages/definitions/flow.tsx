import { PageHead } from '../parts/page-head.js';

/** The page of one: `name` is what the address says. */
export function Flow({ name }: { readonly name: string }) {
  return <PageHead title={name} />;
}
