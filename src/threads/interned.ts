/** Texts that came from another thread, where every request compares them. */

/**
 * The same text as the engine keeps it for names of properties, of which there is one each: two of them are compared by where they are.
 * One that came in a message is a text of its own, and is compared by a call, letter by letter.
 */
export function interned<Text extends string>(text: Text): Text {
  return Object.keys({ [text]: null })[0] as Text
}
