/** Interns texts that came from another thread, where every request compares them. */

/**
 * The same text as V8 keeps it for names of properties. There is one copy of each such text (but for those that are an
 * index), so two of them are compared by their address. A text that came in a message is a copy of its own, and is compared
 * letter by letter.
 */
export function interned<Text extends string>(text: Text): Text {
  // Without a prototype the object is a hash table from the start, and V8 makes no shape for each text.
  return Object.keys({ __proto__: null, [text]: null })[0] as Text
}
