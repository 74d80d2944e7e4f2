/** Adds one to the others of its key, which are many at times: nothing is copied. */
export function addTo<K, T>(groups: Map<K, T[]>, key: K, one: T): void {
  const others = groups.get(key);
  if (others === undefined) groups.set(key, [one]);
  else others.push(one);
}
