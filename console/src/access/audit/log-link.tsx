/** Links to the audit log entries about one entity. */
import { ActionLink } from '../../parts/action.tsx'
import { useHeld } from '../../session/held.ts'
import { viewAddress } from '../../shell/links.ts'
import { isDelegate } from '../../shell/pages-of.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import type { Subject } from './subjects.ts'

export function LogLink({
  about,
  named,
  isSmall = false,
  isNameShown = false,
}: {
  readonly about: Subject
  readonly named: string
  readonly isSmall?: boolean
  /**
   * Whether the text of the link contains the name of the entity. Not needed on the page of the entity,
   * because its title already contains the name.
   */
  readonly isNameShown?: boolean
}) {
  const labels = useTexts().access.audit
  const label = labels.logOf(named)
  const environment = useCurrentEnvironment()
  // A grant that is limited to tenants does not permit to read the audit log.
  if (isDelegate(useHeld(environment))) return null
  return (
    <ActionLink
      to={viewAddress(environment, 'audit', { about, named })}
      kind="quiet"
      isSmall={isSmall}
      label={label}
    >
      {isNameShown ? label : labels.title}
    </ActionLink>
  )
}
