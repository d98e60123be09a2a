/** Parts of an SQL statement: texts and values that are bound as parameters. */

export type Piece = string | { readonly value: unknown }
export type Fragment = readonly Piece[]

/** A template whose insertions are fragments. Texts in it are written as they are. */
export function sql(texts: TemplateStringsArray, ...insertions: readonly Fragment[]): Fragment {
  return texts.flatMap((text, index) => [...(text === '' ? [] : [text]), ...(insertions[index] ?? [])])
}

/** A value that is bound as a parameter. */
export function bound(value: unknown): Fragment {
  return [{ value }]
}

/** A text of the statement, for example a quoted identifier. Never a value. */
export function raw(text: string): Fragment {
  return [text]
}

export function joined(fragments: readonly Fragment[], separator: string): Fragment {
  return fragments.flatMap((fragment, index) => (index === 0 ? fragment : [separator, ...fragment]))
}

/** Flat up to this number of parts. */
const FLAT_MAX = 4

/** Parts joined in groups of groups, because SQLite limits the depth of `a OR b OR …`. */
export function grouped(parts: readonly Fragment[], separator: string): Fragment {
  if (parts.length <= FLAT_MAX) return sql`(${joined(parts, separator)})`
  const half = Math.ceil(parts.length / 2)
  const [first, second] = [parts.slice(0, half), parts.slice(half)]
  return sql`(${grouped(first, separator)}${raw(separator)}${grouped(second, separator)})`
}

/** The texts between the values, and the values: one more text than values. */
export function templateOf(fragment: Fragment): { readonly texts: string[]; readonly values: unknown[] } {
  const texts = ['']
  const values: unknown[] = []
  for (const piece of fragment) {
    if (typeof piece === 'string') texts[texts.length - 1] += piece
    else {
      values.push(piece.value)
      texts.push('')
    }
  }
  return { texts, values }
}
