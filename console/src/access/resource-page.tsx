/** Shows the users who can act on a resource, and the direct grants on it. */
import { completeActions, completeInstances, completeTypes } from '../interface/completions.ts'
import { KeyInput } from '../parts/fields.tsx'
import { Page } from '../parts/page.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { useDecides } from '../session/decides.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { type Filters, useFilters, useTyped } from './address.ts'
import { LogLink } from './audit/log-link.tsx'
import { DecidesNotNote } from './decides-not-note.tsx'
import { FilterForm } from './filter-form.tsx'
import { ResourceGrants } from './resource-grants.tsx'
import { ResourceHolders } from './resource-holders.tsx'
import { AccessTabs } from './tabs.tsx'

const NAMES = ['type', 'instance', 'action'] as const
const NOTHING: Filters<(typeof NAMES)[number]> = { type: '', instance: '', action: '' }

export default function ResourcePage() {
  const labels = useTexts().access
  const environment = useCurrentEnvironment()
  const decides = useDecides()
  const [asked, show] = useFilters('resources', NAMES)
  const [typed, type] = useTyped(asked)
  const name = `${asked.type}:${asked.instance}`
  const isChosen = asked.type !== '' && asked.instance !== ''
  return (
    <Page
      title={labels.resources.title}
      lead={labels.resources.lead}
      actions={isChosen ? <LogLink about="resource_instance" named={name} isNameShown /> : null}
    >
      <AccessTabs current="resources" />
      <FilterForm label={labels.resources.form} onShow={() => show(typed)} onClear={() => show(NOTHING)}>
        <KeyInput
          label={labels.type}
          value={typed.type}
          onChange={type('type')}
          queryKey={environment.key('resource', 'like')}
          load={completeTypes(environment)}
          isRequired
        />
        <KeyInput
          label={labels.resource}
          value={typed.instance}
          onChange={type('instance')}
          queryKey={environment.key('resource_instance', 'like', typed.type)}
          load={completeInstances(environment, typed.type)}
          isRequired
        />
        <KeyInput
          label={labels.action}
          value={typed.action}
          onChange={type('action')}
          queryKey={environment.key('resource', 'actions', typed.type)}
          load={completeActions(environment, typed.type)}
        />
      </FilterForm>
      <DecidesNotNote decides={decides} />
      {!isChosen ? (
        <div className="empty">{labels.resources.chooseResource}</div>
      ) : (
        <div className="access-columns">
          {decides === null ? (
            <Skeleton />
          ) : decides !== 'here' ? null : asked.action === '' ? (
            <div className="empty">{labels.resources.chooseAction(name)}</div>
          ) : (
            <ResourceHolders asked={asked} />
          )}
          <ResourceGrants name={name} />
        </div>
      )}
    </Page>
  )
}
