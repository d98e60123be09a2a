/** The name of a type, which leads to it; of the type that is shown, just its name. */
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
