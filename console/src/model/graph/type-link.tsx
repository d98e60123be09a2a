/** Shows the name of a type as a link to it. If the page is about this type, the name is not a link. */
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
