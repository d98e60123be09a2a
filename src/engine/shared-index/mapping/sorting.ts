/** Sorts in steps, so that the writer can do other work between the steps. */

/** Number of items that are sorted or merged between two steps. A step takes some tenths of a millisecond. */
const ITEMS_A_STEP = 1_024

/** Returns a sorted copy. The sort is stable. O(n log n). */
export function* sortedInSteps<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Generator<void, Item[]> {
  let runs: Item[][] = []
  for (let from = 0; from < items.length; from += ITEMS_A_STEP) {
    runs.push(items.slice(from, from + ITEMS_A_STEP).toSorted(compare))
    yield
  }
  while (runs.length > 1) {
    const longer: Item[][] = []
    for (let index = 0; index < runs.length; index += 2) {
      longer.push(yield* merged(runs[index]!, runs[index + 1] ?? [], compare))
    }
    runs = longer
  }
  return runs[0] ?? []
}

function* merged<Item>(
  ones: readonly Item[],
  others: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Generator<void, Item[]> {
  const all: Item[] = []
  let one = 0
  let other = 0
  while (one < ones.length || other < others.length) {
    const isFirst = other === others.length || (one < ones.length && compare(ones[one]!, others[other]!) <= 0)
    all.push(isFirst ? ones[one++]! : others[other++]!)
    if (all.length % ITEMS_A_STEP === 0) yield
  }
  return all
}
