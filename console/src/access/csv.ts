/**
 * Writes tables as CSV (RFC 4180). Keys are chosen by customers, so a cell could contain a spreadsheet
 * formula. Such a cell is prefixed with an apostrophe, which makes it text. Spreadsheets in many locales
 * separate cells by semicolons and then ignore the quotes inside a cell, so every part that would become a
 * cell there is prefixed as well.
 */
export type Cell = string | number | null

/** Maximum number of rows in a file. */
export const ROWS_MAX = 100_000

/** Byte order mark, so that spreadsheets read the file as UTF-8. */
const MARK = '\uFEFF'
const LINE_END = '\r\n'
/**
 * Positions at which a formula could start: the beginning of the text, and after a semicolon, a tab or a line
 * end. Quotes and spaces before a formula do not protect against it. A separator at the end would let the
 * following cell start a formula.
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
  /** True if rows beyond the maximum were omitted. */
  readonly isCut: boolean
}

/** Appends pages to the file as they arrive. Calls `onRows` with the number of rows so far. */
export async function csvFile(
  header: readonly string[],
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
  {
    onRows = () => {},
    rowsMax = ROWS_MAX,
  }: { readonly onRows?: (rows: number) => void; readonly rowsMax?: number } = {},
): Promise<CsvFile> {
  // One blob per page, because the browser can store blobs on disk.
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

/** Builds a file name from the given parts, without characters that file systems reject. */
export function fileName(...about: readonly string[]): string {
  const parts = about
    .filter(part => part !== '')
    .map(part => part.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').slice(0, 40))
  return `${parts.join('-')}.csv`
}
