/** How two sets lie to each other. */
export interface SetOverlap {
  readonly both: number;
  readonly onlyFirst: number;
  readonly onlySecond: number;
  /** Shared members of all members (Jaccard 1901); 0 of two empty sets. */
  readonly jaccard: number;
}

export function overlapOf<T>(first: ReadonlySet<T>, second: ReadonlySet<T>): SetOverlap {
  let both = 0;
  for (const member of first) if (second.has(member)) both++;
  const all = first.size + second.size - both;
  return {
    both,
    onlyFirst: first.size - both,
    onlySecond: second.size - both,
    jaccard: all === 0 ? 0 : both / all,
  };
}

/** The members that at least one of the sets holds. */
export function unionOf<T>(sets: readonly ReadonlySet<T>[]): Set<T> {
  const all = new Set<T>();
  for (const set of sets) for (const member of set) all.add(member);
  return all;
}

/** How many members of a set none of the others holds: what is lost without it. */
export function contributionOf<T>(set: ReadonlySet<T>, others: readonly ReadonlySet<T>[]): number {
  let alone = 0;
  for (const member of set) if (!others.some((other) => other.has(member))) alone++;
  return alone;
}
