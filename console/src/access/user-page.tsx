/**
 * Page about a user: shows the resources that the user can act on, and the roles that are assigned to the
 * user directly.
 */
import { completeActions, completeTenants, completeTypes, completeUsers } from '../interface/completions.ts'
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
import { AccessTabs } from './tabs.tsx'
import { UserResources } from './user-resources.tsx'
import { UserRoles } from './user-roles.tsx'

const NAMES = ['user', 'action', 'type', 'tenant'] as const
const NOTHING: Filters<(typeof NAMES)[number]> = { user: '', action: '', type: '', tenant: '' }

export default function UserPage() {
  const labels = useTexts().access
  const environment = useCurrentEnvironment()
  const decides = useDecides()
  const [asked, show] = useFilters('users', NAMES)
  const [typed, type] = useTyped(asked)
  return (
    <Page
      title={labels.users.title}
      lead={labels.users.lead}
      actions={asked.user === '' ? null : <LogLink about="user" named={asked.user} isNameShown />}
    >
      <AccessTabs current="users" />
      <FilterForm label={labels.users.form} onShow={() => show(typed)} onClear={() => show(NOTHING)}>
        <KeyInput
          label={labels.user}
          value={typed.user}
          onChange={type('user')}
          queryKey={environment.key('user', 'like')}
          load={completeUsers(environment)}
          isRequired
        />
        <KeyInput
          label={labels.action}
          value={typed.action}
          onChange={type('action')}
          queryKey={environment.key('resource', 'actions', typed.type)}
          load={completeActions(environment, typed.type)}
        />
        <KeyInput
          label={labels.type}
          placeholder={labels.allTypes}
          value={typed.type}
          onChange={type('type')}
          queryKey={environment.key('resource', 'like')}
          load={completeTypes(environment)}
        />
        <KeyInput
          label={labels.tenant}
          placeholder={labels.allTenants}
          value={typed.tenant}
          onChange={type('tenant')}
          queryKey={environment.key('tenant', 'like')}
          load={completeTenants(environment)}
        />
      </FilterForm>
      <DecidesNotNote decides={decides} />
      {asked.user === '' ? (
        <div className="empty">{labels.users.chooseUser}</div>
      ) : (
        <div className="access-columns">
          {decides === null ? (
            <Skeleton />
          ) : decides !== 'here' ? null : asked.action === '' ? (
            <div className="empty">{labels.users.chooseAction(asked.user)}</div>
          ) : (
            <UserResources asked={asked} />
          )}
          <UserRoles user={asked.user} />
        </div>
      )}
    </Page>
  )
}
