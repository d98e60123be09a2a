/** Expiration time of a grant in a table cell. Its tooltip shows the exact time. */
import { EndText } from '../parts/ends.tsx'

export function Until({ end }: { readonly end: string | undefined }) {
  return (
    <span className="until" {...(end === undefined ? {} : { title: end })}>
      <EndText end={end} />
    </span>
  )
}
