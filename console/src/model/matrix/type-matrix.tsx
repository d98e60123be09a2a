/** Matrix of the roles of a type. It has one row per role and one column per action. */
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { AddAction } from '../dialogs/add-action.tsx'
import { AddRole } from '../dialogs/add-role.tsx'
import { inheritedPermissions, rolesOf } from '../model-facts.ts'
import { useType } from '../model-reads.ts'
import { PermissionGrid } from './permission-grid.tsx'
import { useToggle } from './use-toggle.ts'

export function TypeMatrix({ type: key }: { readonly type: string }) {
  const texts = useTexts().model.matrix
  const { data: type, error } = useType(key)
  const toggle = useToggle(key)
  if (type === undefined) return error === null ? <Skeleton /> : <ProblemNote error={error} />
  const roles = rolesOf(type)
  const byKey = new Map(roles.map(role => [role.key, role]))
  const actions = Object.values(type.actions)
  return (
    <div className="stack">
      {roles.length === 0 || actions.length === 0 ? (
        <div className="empty">{roles.length === 0 ? texts.noRoles : texts.noActions}</div>
      ) : (
        <PermissionGrid
          label={texts.table(key)}
          corner={texts.role}
          columns={actions.map(action => ({ key: action.key, header: <code>{action.key}</code> }))}
          groups={[
            {
              key,
              header: null,
              rows: roles.map(role => {
                const inherited = inheritedPermissions(role, byKey)
                return {
                  key: role.key,
                  header: <code>{role.key}</code>,
                  cells: actions.map(action => ({
                    id: `${role.key} ${action.key}`,
                    role: role.key,
                    permission: action.key,
                    isDirect: role.permissions.includes(action.key),
                    through: inherited.get(action.key) ?? null,
                  })),
                }
              }),
            },
          ]}
          onToggle={toggle}
        />
      )}
      <div className="row">
        <AddRole type={key} actions={actions.map(action => action.key)} look={{ kind: 'plain' }} />
        <AddAction type={key} />
      </div>
    </div>
  )
}
