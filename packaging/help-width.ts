/**
 * Number of columns that a help text needs. This is the number of its characters, because the help is in
 * English and contains no escape sequences. In the built form, this function replaces a function of the
 * parser (`packaging/build.ts`). That function supports emoji and all scripts, but takes longer to load than
 * the rest of the help.
 */
export default function helpWidth(text: string): number {
  return Array.from(text).length
}
