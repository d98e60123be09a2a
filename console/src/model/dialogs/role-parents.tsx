/**
 * Dialog that edits the roles that a role extends. A role has all permissions of the roles that it extends.
 */
import { type ReactNode, useState } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { itemsOf, searched } from '../../interface/completions.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { Choice, KeyInput, type Option } from '../../parts/fields.tsx'
import { useWrite } from '../../parts/writes.ts'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { TENANT_ROLES } from '../model-edits.ts'
import type { ModelRole, TenantRole } from '../model-reads.ts'
import { setExtends } from '../model-writes.ts'

/** Dialog for a role of a type. The user selects from a short list. */
export function RoleParents({
  type,
  role,
  roles,
}: {
  readonly type: string
  readonly role: ModelRole
  readonly roles: readonly ModelRole[]
}) {
  const texts = useTexts().model.graph.parents
  const others = roles.filter(({ key }) => key !== role.key).map(({ key }) => key)
  const [first] = others
  if (first === undefined) return null
  return (
    <Parents type={type} role={role} begin={first}>
      {(chosen, choose) => (
        <Choice
          label={texts.choose(role.key)}
          value={chosen}
          onChange={choose}
          options={others.map(key => ({
            id: key,
            note: role.extends.includes(key) ? texts.isNow : undefined,
          }))}
        />
      )}
    </Parents>
  )
}

/** Dialog for a tenant role. The user searches for the other roles, because there can be many. */
export function TenantRoleParents({ role }: { readonly role: TenantRole }) {
  const texts = useTexts().model.graph.parents
  const { path, key } = useCurrentEnvironment()
  const load = async (text: string, signal: AbortSignal): Promise<readonly Option[]> => {
    const found = await answerOf(
      service.GET(TENANT_ROLES, { params: { path, query: searched(text) }, signal }),
    )
    return itemsOf(found)
      .filter(each => each.key !== role.key)
      .map(each => ({ id: each.key, note: role.extends.includes(each.key) ? texts.isNow : undefined }))
  }
  return (
    <Parents type={null} role={role} begin="">
      {(chosen, choose) => (
        <KeyInput
          label={texts.choose(role.key)}
          value={chosen}
          onChange={choose}
          queryKey={key('role', 'parent-options', role.key)}
          load={load}
          isRequired
          autoFocus
        />
      )}
    </Parents>
  )
}

/** `begin` contains the initially selected roles. */
function Parents({
  type,
  role,
  begin,
  children,
}: {
  readonly type: string | null
  readonly role: Pick<TenantRole, 'key' | 'extends'>
  readonly begin: string
  readonly children: (chosen: string, choose: (parent: string) => void) => ReactNode
}) {
  const texts = useTexts().model.graph
  const { path } = useCurrentEnvironment()
  const write = useWrite()
  const [parent, setParent] = useState<string | null>(null)
  const chosen = parent ?? begin
  const isExtended = role.extends.includes(chosen)
  const at = { type, role: role.key, parent: chosen }
  return (
    <ActionDialog
      needs="write"
      trigger={texts.parents.open}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      triggerLabel={texts.parents.label(role.key)}
      title={texts.parents.title(role.key)}
      sentence={
        isExtended
          ? texts.parents.removes(role.key, chosen)
          : texts.parents.adds(role.key, chosen === '' ? '…' : chosen)
      }
      submit={isExtended ? texts.remove : texts.add}
      isReady={chosen !== ''}
      onOpen={() => setParent(null)}
      onSubmit={() =>
        write({
          make: () => setExtends(path, { ...at, extend: !isExtended }),
          message: isExtended
            ? texts.parents.removed(role.key, chosen)
            : texts.parents.added(role.key, chosen),
          undo: () => setExtends(path, { ...at, extend: isExtended }),
        })
      }
    >
      {() => children(chosen, setParent)}
    </ActionDialog>
  )
}
