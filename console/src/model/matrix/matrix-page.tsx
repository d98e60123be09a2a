/**
 * Table of roles and permissions, which the user edits in place. It shows the roles of one type, or the
 * tenant roles with the permissions on all types.
 */
import { useLocation } from 'wouter'
import { Choice } from '../../parts/fields.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useSpoken } from '../../texts/texts.tsx'
import { ModelPage } from '../model-page.tsx'
import { useTypes } from '../model-reads.ts'
import { MatrixLegend } from './matrix-legend.tsx'
import { TenantMatrix } from './tenant-matrix.tsx'
import { TypeMatrix } from './type-matrix.tsx'
import '../../styles/model-matrix.css'

/** Value of the menu item for tenant roles. It differs from every type, because keys contain no colon. */
const TENANTS = ':tenants'

/** If `type` is null, the page shows the tenant roles. */
export default function MatrixPage({ type }: { readonly type: string | null }) {
  const { texts: all, number } = useSpoken()
  const texts = all.model.matrix
  const environment = useCurrentEnvironment()
  const [, go] = useLocation()
  const { types, total, isLoading } = useTypes()
  const isListed = type === null || types.some(({ key }) => key === type)
  return (
    <ModelPage title={texts.title} lead={texts.lead}>
      <div className="row ends apart">
        <div className="matrix-choice">
          <Choice
            label={texts.of}
            value={type ?? TENANTS}
            onChange={chosen =>
              go(
                chosen === TENANTS
                  ? environment.to('model', 'matrix')
                  : environment.to('model', 'matrix', chosen),
              )
            }
            options={[
              { id: TENANTS, text: texts.tenantRoles },
              ...(isListed ? [] : [{ id: type }]),
              ...types.map(({ key, name }) => ({ id: key, note: name === key ? undefined : name })),
            ]}
            description={
              !isLoading && types.length < total
                ? texts.truncated(number(types.length), number(total))
                : undefined
            }
          />
        </div>
        <MatrixLegend />
      </div>
      <p className="soft">{type === null ? texts.tenantNote : texts.typeNote(type)}</p>
      {type === null ? <TenantMatrix /> : <TypeMatrix type={type} />}
    </ModelPage>
  )
}
