/**
 * How many columns a text of help takes: as many as it has characters, since it is English without escape sequences. The built form has
 * this in place of the parser's own measure (`packaging/build.ts`), which knows emoji and the widths of all scripts, and takes longer
 * to be ready than all of help.
 */
export default function helpWidth(text: string): number {
  return Array.from(text).length
}
