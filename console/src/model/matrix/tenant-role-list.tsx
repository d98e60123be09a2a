/**
 * List of the tenant roles that are columns of the matrix. It shows the description of each role and the
 * actions that the user can perform on it.
 */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { EditRole } from '../dialogs/edit-role.tsx'
import { RemovePart } from '../dialogs/remove-part.tsx'
import { TenantRoleParents } from '../dialogs/role-parents.tsx'
import type { TenantRole } from '../model-reads.ts'
import { removeRole } from '../model-writes.ts'
import { Named } from '../named.tsx'
import { PanelSection } from '../panel-section.tsx'

export function TenantRoleList({ roles }: { readonly roles: readonly TenantRole[] }) {
  const { graph: texts, matrix } = useTexts().model
  const { path } = useCurrentEnvironment()
  return (
    <div className="card">
      <PanelSection title={matrix.tenantRoleList} items={roles} none="" itemKey={({ key }) => key} level={2}>
        {role => (
          <>
            <span className="stack tight">
              <Named of={role.key} name={role.name} />
              {role.description === null ? null : <span className="soft small">{role.description}</span>}
              {role.extends.length === 0 ? null : (
                <span className="soft small">{texts.extendsSentence(role.extends.join(', '))}</span>
              )}
            </span>
            <span className="row tight-end">
              <EditRole type={null} role={role.key} />
              <TenantRoleParents role={role} />
              <RemovePart
                label={texts.removeRole.label(role.key)}
                title={texts.removeRole.title}
                sentence={texts.removeRole.tenantSentence(role.key)}
                message={texts.removeRole.tenantDone(role.key)}
                remove={() => removeRole(path, null, role.key)}
              />
            </span>
          </>
        )}
      </PanelSection>
    </div>
  )
}
