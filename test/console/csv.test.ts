/** CSV files of the console: quotes, formulas, row limits and file names. */
import { describe, expect, test } from 'vitest'
import { csvFile, csvLine, fileName } from '../../console/src/access/csv.ts'

/** Parses CSV as spreadsheets do: quotes are special only at the start of a cell. */
function cellsIn(text: string, separators: string): string[] {
  const cells: string[] = []
  for (let at = 0; at < text.length; at += 1) {
    let cell = ''
    if (text[at] === '"') {
      for (at += 1; at < text.length; at += 1) {
        if (text[at] !== '"') cell += text[at]
        else if (text[at + 1] === '"') cell += text[(at += 1)]
        else break
      }
      at += 1
    }
    for (; at < text.length && !separators.includes(text[at]!) && !'\r\n'.includes(text[at]!); at += 1)
      cell += text[at]
    cells.push(cell)
    if (text[at] === '\r' && text[at + 1] === '\n') at += 1
  }
  return cells
}

const isFormula = (cell: string): boolean => /^[\s"]*[=+\-@＝＋－＠]|^[\t\r]/.test(cell)

const PARTS = ['', 'x', ';', ',', '"', '=2+3', '-1', '\t', '\r', '\n', ' ']
/** All texts of up to three parts. */
const TEXTS = PARTS.flatMap(one => PARTS.flatMap(two => PARTS.map(three => one + two + three)))

describe.each([
  ['a comma', ','],
  ['a semicolon', ';'],
  ['a tab', '\t'],
  ['any of them', ',;\t'],
])('a CSV line read with %s between cells', (_name, separators) => {
  test.each([['x;=2+3'], ['=2+3'], ['x;"=2+3'], ['x\n=2+3'], ['x;;@a'], ['x; +1'], ['a,b;'], ['x\t=2']])(
    'has no formula for the key %j, alone and between other keys',
    key => {
      for (const line of [[key], [key, 'b', 1], ['a', key, key], [null, 'a,b', key]])
        expect(cellsIn(csvLine(line) + csvLine(['next', 'a']), separators).filter(isFormula)).toEqual([])
    },
  )

  test('has no formula for any combination of special characters', () => {
    const wrong = TEXTS.filter(text =>
      cellsIn(csvLine(['a', text, text]) + csvLine([text, 'b']), separators).some(isFormula),
    )
    expect(wrong).toEqual([])
  })
})

test('a CSV line read with commas between cells has the original texts, except for apostrophes before formulas', () => {
  for (const text of TEXTS) {
    const [cell] = cellsIn(csvLine([text, 'b']), ',')
    expect(cell!.replaceAll("'", ''), JSON.stringify(text)).toBe(text)
  }
  expect(csvLine(['a;b', 'c-d', 'x=1', 'a@b.org', 7, null, 'a"b'])).toBe('a;b,c-d,x=1,a@b.org,7,,"a""b"\r\n')
})

test('a CSV export of several pages has no formula in its cells', async () => {
  async function* pages() {
    yield [['x;=2+3', '=2+3']]
  }
  const { file } = await csvFile(['user', 'resource'], pages())
  expect(await file.text()).toBe("\uFEFFuser,resource\r\nx;'=2+3,'=2+3\r\n".replace('\uFEFF', ''))
})

test('cells of a CSV line are quoted if necessary, and formulas get an apostrophe', () => {
  expect(csvLine(['plain', 7, null, 'a,b', 'say "no"', 'two\nlines', ' spaced'])).toBe(
    'plain,7,,"a,b","say ""no""","two\nlines"," spaced"\r\n',
  )
  expect(csvLine(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '1=1'])).toBe(
    `'=1+1,'+1,'-1,'@SUM(A1),'\tx,"'\rx",1=1\r\n`,
  )
})

test('a CSV export stops at its row limit and states whether rows were left out', async () => {
  async function* pages() {
    yield [['a'], ['b']]
    yield [['c'], ['d']]
  }
  const cut = await csvFile(['key'], pages(), { rowsMax: 3 })
  expect(await cut.file.text()).toBe('key\r\na\r\nb\r\nc\r\n')
  expect([cut.rows, cut.isCut]).toEqual([3, true])
  const whole = await csvFile(['key'], pages(), { rowsMax: 4 })
  expect([whole.rows, whole.isCut]).toEqual([4, false])
})

test('the name of a CSV file consists of the filters, without characters that file systems reject', () => {
  expect(fileName('access', '../../etc/passwd', '', 'Bücher')).toBe('access-..-..-etc-passwd-Bücher.csv')
})
