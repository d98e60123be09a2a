/**
 * Matrix of the tenant roles. It has one column per role, and one row per permission on any type. Types are
 * loaded page by page, and the user can search for them.
 */
import { useState } from 'react'
import { Link } from 'wouter'
import { answerOf, service } from '../../interface/client.ts'
import { usePages } from '../../interface/pages.ts'
import { Action } from '../../parts/action.tsx'
import { SearchInput } from '../../parts/fields.tsx'
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useDebounced } from '../../parts/debounce.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useSpoken } from '../../texts/texts.tsx'
import { AddRole } from '../dialogs/add-role.tsx'
import { MODEL_NOUNS, type ModelType } from '../model-reads.ts'
import { PermissionGrid } from './permission-grid.tsx'
import { TenantRoleList } from './tenant-role-list.tsx'
import { useTenantRoles } from './tenant-role-pages.ts'
import { useToggle } from './use-toggle.ts'

export function TenantMatrix() {
  const { texts: all, number } = useSpoken()
  const texts = all.model.matrix
  const environment = useCurrentEnvironment()
  const [typed, setTyped] = useState('')
  const search = useDebounced(typed)
  const toggle = useToggle(null)
  const { path } = environment
  const roles = useTenantRoles()
  const types = usePages<ModelType>(environment.key(MODEL_NOUNS, 'types-of-matrix', search), (page, signal) =>
    answerOf(
      service.GET('/v2/schema/{proj_id}/{env_id}/resources', {
        params: {
          path,
          query: { ...page, include_total_count: true, ...(search === '' ? {} : { search }) },
        },
        signal,
      }),
    ),
  )
  if (roles.isLoading || types.isLoading) return <Skeleton />
  return (
    <div className="stack">
      <div className="row">
        <SearchInput label={texts.findTypes} value={typed} onChange={setTyped} />
        <AddRole type={null} look={{ kind: 'plain' }} />
      </div>
      <ProblemNote error={roles.error ?? types.error} />
      {roles.items.length === 0 ? (
        <div className="empty">{texts.noRoles}</div>
      ) : types.items.length === 0 ? (
        <div className="empty">{search === '' ? texts.noActions : texts.noTypes}</div>
      ) : (
        <PermissionGrid
          label={texts.tenantTable}
          corner={texts.action}
          columns={roles.items.map(({ role: { key } }) => ({ key, header: <code>{key}</code> }))}
          groups={types.items.map(type => ({
            key: type.key,
            header: <Link href={environment.to('model', 'matrix', type.key)}>{type.name}</Link>,
            rows: Object.keys(type.actions).map(action => {
              const permission = `${type.key}:${action}`
              return {
                key: permission,
                header: <code>{action}</code>,
                cells: roles.items.map(({ role, inherited }) => ({
                  id: `${role.key} ${permission}`,
                  role: role.key,
                  permission,
                  isDirect: role.permissions.includes(permission),
                  through: inherited.get(permission) ?? null,
                })),
              }
            }),
          }))}
          onToggle={toggle}
        />
      )}
      <div className="row apart">
        <span className="soft small" role="status">
          {types.total === null
            ? all.parts.shown(number(types.items.length))
            : all.parts.shownOf(number(types.items.length), number(types.total))}
        </span>
        <span className="row">
          {roles.hasMore ? (
            <Action onPress={roles.loadMore} isPending={roles.isLoadingMore}>
              {texts.moreRoles}
            </Action>
          ) : null}
          {types.hasMore ? (
            <Action onPress={types.loadMore} isPending={types.isLoadingMore}>
              {texts.moreTypes}
            </Action>
          ) : null}
        </span>
      </div>
      {roles.items.length === 0 ? null : <TenantRoleList roles={roles.items.map(({ role }) => role)} />}
    </div>
  )
}
