import type { ComponentChildren } from 'preact';

/** A name with what there is to say of it, in a list of such. */
export function Fact({
  name,
  value,
}: {
  readonly name: string;
  readonly value: ComponentChildren;
}) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
