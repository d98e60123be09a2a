/** Interns strings that came from another thread and that every request compares. */

/**
 * Returns the same string as V8 stores it for property names. There is one copy of each such string (except
 * array indexes), so two of them are compared by address. A string from a message is a separate copy and is
 * compared character by character.
 */
export function interned<Text extends string>(text: Text): Text {
  // Without a prototype, the object is a hash table from the start, and V8 creates no hidden class for each
  // string.
  return Object.keys({ __proto__: null, [text]: null })[0] as Text
}
