/** Shows an instance as `type:key`, or a group by its name, with a link to its page. */
import { Link } from 'wouter'
import { Badge } from '../parts/page.tsx'
import { addressOf } from '../shell/links.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'

export function InstanceLink({ reference }: { readonly reference: string }) {
  const environment = useCurrentEnvironment()
  const colon = reference.indexOf(':')
  const [type, instance] = [reference.slice(0, colon), reference.slice(colon + 1)]
  return (
    <span className="row tight-row">
      <Badge>{type}</Badge>
      <Link className="key" href={addressOf(environment, { kind: 'instance', type, key: instance })!}>
        {instance}
      </Link>
    </span>
  )
}
