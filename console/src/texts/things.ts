/** A number and what there is that many of. */
export function things(count: string, one: string, many: string): string {
  return `${count} ${count === '1' ? one : many}`
}
