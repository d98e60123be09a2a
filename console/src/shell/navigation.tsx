/** Where one can go, with a mark at where one is. */
import { Link, useLocation } from 'wouter'
import { useTexts } from '../texts/texts.tsx'
import { Icon, type IconName } from './icons.tsx'

interface Destination {
  readonly to: string
  readonly text: string
  readonly icon: IconName
}

export function Navigation({ links }: { readonly links: readonly Destination[] }) {
  const [path] = useLocation()
  // The longest that fits is where one is.
  const [current] = links
    .filter(({ to }) => path === to || path.startsWith(`${to}/`))
    .toSorted((one, other) => other.to.length - one.to.length)
  return (
    <nav aria-label={useTexts().shell.navigation}>
      <ul>
        {links.map(({ to, text, icon }) => (
          <li key={to}>
            <Link href={to} {...(to === current?.to ? { 'aria-current': 'page' } : {})}>
              <Icon name={icon} />
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
