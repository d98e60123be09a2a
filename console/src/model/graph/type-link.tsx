/** Name of a type as a link to it. For the displayed type, only the name. */
import { Link } from 'wouter'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'

export function TypeLink({ type, here }: { readonly type: string; readonly here: string }) {
  const environment = useCurrentEnvironment()
  if (type === here) return <span className="key">{type}</span>
  return (
    <Link href={environment.to('model', 'types', type)} className="key">
      {type}
    </Link>
  )
}
