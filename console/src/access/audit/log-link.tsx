/** Links to the audit log entries about one entity. */
import { ActionLink } from '../../parts/action.tsx'
import { viewAddress } from '../../shell/links.ts'
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
  return (
    <ActionLink
      to={viewAddress(useCurrentEnvironment(), 'audit', { about, named })}
      kind="quiet"
      isSmall={isSmall}
      label={label}
    >
      {isNameShown ? label : labels.title}
    </ActionLink>
  )
}
