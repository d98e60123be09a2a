/** What is behind a gateway may decode a path before it parts it, take `\` for `/`, and leave parameters of a part out. */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?:$|[/\\;]|%2f|%5c)/i

/** Whether a part of a path is one that others may take for the way to another path: `.` or `..`, however written. O(path). */
export function hasDotSegments(path: string): boolean {
  return DOT_SEGMENT.test(path)
}
