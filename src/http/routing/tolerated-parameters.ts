/**
 * What published clients send to lists of management although it means nothing there: each name with who sends it, and why an answer
 * that ignores it is none the wider. Any other name that a list does not know is refused (`query-string.ts`).
 */
export const TOLERATED_PARAMETERS: ReadonlyMap<string, string> = new Map([
  // Changes the form of some lists and the content of none.
  ['include_total_count', 'clients generated from the published interface'],
  // Goes with the attributes of users, and can name nothing but the resource that carries those.
  ['resource_id', 'permit-golang'],
])
