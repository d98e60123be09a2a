/** The end of a grant in a table: in one line, the exact moment where one points at it. */
import { EndText } from '../parts/ends.tsx'

export function Until({ end }: { readonly end: string | undefined }) {
  return (
    <span className="until" {...(end === undefined ? {} : { title: end })}>
      <EndText end={end} />
    </span>
  )
}
