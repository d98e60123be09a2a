/**
 * Writes tables as CSV (RFC 4180). Customers choose keys, so a cell could contain a formula, which a
 * spreadsheet would execute. Such a cell is prefixed with an apostrophe, which makes it plain text.
 *
 * In many locales, spreadsheets separate cells by semicolons and ignore the quotes inside a cell. Therefore
 * each part of a cell that would become a separate cell in these locales is also prefixed.
 */
export type Cell = string | number | null

/** Maximum number of rows in a file. */
export const ROWS_MAX = 100_000

/** Byte order mark. It makes spreadsheets read the file as UTF-8. */
const MARK = '\uFEFF'
const LINE_END = '\r\n'
/**
 * Positions at which a formula could start: at the beginning of the text, and after a semicolon, a tab or a
 * line end. Quotes and spaces before a formula do not protect against it. A separator at the end of a cell is
 * also a match, because a formula could start in the following cell.
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
  /** Whether rows were omitted because the file has the maximum number of rows. */
  readonly isCut: boolean
}

/**
 * Creates the file and appends each page when it has arrived. Calls `onRows` with the number of rows that the
 * file contains.
 */
export async function csvFile(
  header: readonly string[],
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
  {
    onRows = () => {},
    rowsMax = ROWS_MAX,
  }: { readonly onRows?: (rows: number) => void; readonly rowsMax?: number } = {},
): Promise<CsvFile> {
  // Each page is a separate blob, because the browser can store blobs on disk.
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

/** Builds a file name from the given parts. Characters that file systems reject are removed. */
export function fileName(...about: readonly string[]): string {
  const parts = about
    .filter(part => part !== '')
    .map(part => part.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '-').slice(0, 40))
  return `${parts.join('-')}.csv`
}
