/** Formats a count with a singular or plural noun. */
export function things(count: string, one: string, many: string): string {
  return `${count} ${count === '1' ? one : many}`
}
