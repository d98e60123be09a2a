/** Texts that came from another thread, where every request compares them. */

/**
 * The same text as the engine keeps it for names of properties, of which there is one each (but for those that are an
 * index): two of them are compared by where they are. One that came in a message is a text of its own, and is compared
 * by a call, letter by letter.
 */
export function interned<Text extends string>(text: Text): Text {
  // Without a prototype it is a table from the start, and no shape is made for each text.
  return Object.keys({ __proto__: null, [text]: null })[0] as Text
}
