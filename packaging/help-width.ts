/**
 * Number of columns of a help text: its number of characters, because it is English without escape sequences.
 * In the built form, this function replaces that of the parser (`packaging/build.ts`), which supports emoji
 * and all scripts but takes longer to load than the rest of the help.
 */
export default function helpWidth(text: string): number {
  return Array.from(text).length
}
