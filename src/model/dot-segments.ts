/**
 * What is behind a gateway may decode a path before it parts it, or decode it twice, take `\` for `/`, and leave parameters of a part, or
 * what stands behind a zero, out.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%(?:25)*(?:2f|5c))(?:\.|%(?:25)*2e){1,2}(?:$|[/\\;]|%(?:25)*(?:2f|5c|3b|00))/i

/** Whether a part of a path is one that others may take for the way to another path: `.` or `..`, however written. O(path). */
export function hasDotSegments(path: string): boolean {
  return DOT_SEGMENT.test(path)
}
