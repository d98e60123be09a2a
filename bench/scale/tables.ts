/** Formats figures for the tables of docs/design. */

export type Cell = string | number | null

export function printTable(title: string, head: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const lines = [head, head.map(() => '---'), ...rows.map(row => row.map(told))]
  process.stdout.write(`\n${title}\n\n${lines.map(line => `| ${line.join(' | ')} |`).join('\n')}\n`)
}

function told(cell: Cell): string {
  if (cell === null) return '–'
  return typeof cell === 'number' ? cell.toLocaleString('en-US', { maximumFractionDigits: 2 }) : cell
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

export function ms(seconds: number): string {
  const value = seconds * 1e3
  return `${value >= 100 ? Math.round(value).toLocaleString('en-US') : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`
}

export function gigabytes(bytes: number, digits = 0): string {
  return bytes >= 1e12 ? `${(bytes / 1e12).toFixed(1)} TB` : `${(bytes / 1e9).toFixed(digits)} GB`
}

export function millions(count: number): string {
  return `${Math.round(count / 1e6).toLocaleString('en-US')} M`
}

export function duration(seconds: number | null): string {
  if (seconds === null) return 'never'
  if (seconds < 120) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${(seconds / 3_600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} days`
}
