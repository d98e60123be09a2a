/**
 * A role of a type: its permissions, the roles that it extends, its derivations, and the actions that the
 * user can perform on it.
 */
import { Badge } from '../../parts/page.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { EditGuard } from '../dialogs/edit-guard.tsx'
import { EditRole } from '../dialogs/edit-role.tsx'
import { RemovePart } from '../dialogs/remove-part.tsx'
import { RoleParents } from '../dialogs/role-parents.tsx'
import type { ModelRole } from '../model-reads.ts'
import { removeRole } from '../model-writes.ts'
import { Named } from '../named.tsx'

export function RoleItem({
  role,
  type,
  roles,
}: {
  readonly role: ModelRole
  readonly type: string
  readonly roles: readonly ModelRole[]
}) {
  const texts = useTexts().model.graph
  const { path } = useCurrentEnvironment()
  const { when, users_with_role: entries } = role.granted_to
  const isGuarded = when.no_direct_roles_on_object
  return (
    <div className="stack tight grow">
      <div className="row apart">
        <Named of={role.key} name={role.name} />
        <span className="row tight-end">
          <EditRole type={type} role={role.key} />
          <RemovePart
            label={texts.removeRole.label(role.key)}
            title={texts.removeRole.title}
            sentence={texts.removeRole.sentence(role.key, type)}
            message={texts.removeRole.done(role.key, type)}
            remove={() => removeRole(path, type, role.key)}
          />
        </span>
      </div>
      {role.description === null ? null : <span className="soft small">{role.description}</span>}
      <span className="row tags">
        {role.permissions.map(permission => (
          <Badge key={permission}>{permission}</Badge>
        ))}
        {role.permissions.length === 0 ? <span className="soft small">{texts.noPermissions}</span> : null}
      </span>
      {role.extends.length === 0 ? null : (
        <span className="soft small">{texts.extendsSentence(role.extends.join(', '))}</span>
      )}
      {isGuarded ? <span className="soft small">{texts.guard.sentence(type)}</span> : null}
      <span className="row tight-end">
        <RoleParents type={type} role={role} roles={roles} />
        {/*
         * The guard is offered only if the role has one or has derivations, because a guard has no effect
         * without derivations.
         */}
        {isGuarded || entries.length > 0 ? <EditGuard type={type} role={role.key} /> : null}
      </span>
    </div>
  )
}
