/** What is measured of the product, in this order. */
export const productParts = [
  'raw',
  'lone',
  'backlog',
  'fan-out',
  'sleepers',
  'crowd',
  'lengths',
  'large',
  'way',
] as const;
export type ProductPart = (typeof productParts)[number];
