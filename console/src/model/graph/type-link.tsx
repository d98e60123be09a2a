/** Name of a type as a link to it. For the displayed type, only the name. */
import { Link } from 'wouter'
import { usePlace } from '../../shell/place.tsx'

export function TypeLink({ type, here }: { readonly type: string; readonly here: string }) {
  const place = usePlace()
  if (type === here) return <span className="key">{type}</span>
  return (
    <Link href={place.to('model', 'types', type)} className="key">
      {type}
    </Link>
  )
}
