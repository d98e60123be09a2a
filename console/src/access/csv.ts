/**
 * Tables as CSV (RFC 4180). Keys are whatever customers call things: a cell that a spreadsheet would run as a formula has an apostrophe in
 * front, which makes it a text there. Spreadsheets of many countries separate cells by semicolons, and then quotes inside of a cell protect
 * nothing: an apostrophe is therefore in front of each part that would be a cell there.
 */
export type Cell = string | number | null

/** How many rows a file has at most. */
export const ROWS_MAX = 100_000

/** So that spreadsheets read the file as UTF-8. */
const MARK = '\uFEFF'
const LINE_END = '\r\n'
/**
 * The places where a cell would begin that is a formula: at the beginning, and after a semicolon, a tab or a line end. Quotes and blanks
 * before a formula do not protect. A separator at the end would let what follows begin a cell.
 */
const FORMULA = /^(?=[\s"]*[=+\-@＝＋－＠]|[\t\r\n])|(?<=[;\t\r\n])(?=[\s"]*(?:[=+\-@＝＋－＠]|$)|[\t\r])/g
const TO_QUOTE = /[",\r\n]|^\s|\s$/

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}${LINE_END}`
}

function csvCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = cell.replaceAll(FORMULA, "'")
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

interface CsvFile {
  readonly file: Blob
  readonly rows: number
  /** Whether there were more rows than it has. */
  readonly isCut: boolean
}

/** Pages become the file as they come. `onRows`: how many are in it by now. */
export async function csvFile(
  header: readonly string[],
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
  {
    onRows = () => {},
    rowsMax = ROWS_MAX,
  }: { readonly onRows?: (rows: number) => void; readonly rowsMax?: number } = {},
): Promise<CsvFile> {
  // A blob of each page: the browser may keep those on its disk.
  const parts = [new Blob([MARK, csvLine(header)])]
  let rows = 0
  let isCut = false
  for await (const page of pages) {
    const taken = page.slice(0, rowsMax - rows)
    rows += taken.length
    parts.push(new Blob([taken.map(csvLine).join('')]))
    onRows(rows)
    isCut = taken.length < page.length
    if (isCut) break
  }
  return { file: new Blob(parts, { type: 'text/csv;charset=utf-8' }), rows, isCut }
}

/** A name for a file, of what it is about: without what a disk may not take. */
export function fileName(...about: readonly string[]): string {
  const parts = about
    .filter(part => part !== '')
    .map(part => part.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').slice(0, 40))
  return `${parts.join('-')}.csv`
}
