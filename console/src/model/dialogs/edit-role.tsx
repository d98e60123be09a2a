/** Dialog that edits the name, description and attributes of a role. A null `type` means a tenant role. */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { editableRole } from '../model-edits.ts'
import { BLANK_DESCRIBED, describedChangeOf, describedDraftOf, DescribedFields } from './described.tsx'
import { EditPart } from './edit-part.tsx'

export function EditRole({ type, role }: { readonly type: string | null; readonly role: string }) {
  const texts = useTexts().model.graph.editRole
  const { path } = useCurrentEnvironment()
  return (
    <EditPart
      label={texts.label(role)}
      title={type === null ? texts.tenantTitle(role) : texts.title(role, type)}
      sentence={texts.sentence(role)}
      message={texts.done(role)}
      editable={editableRole(path, type, role)}
      blank={BLANK_DESCRIBED}
      draftOf={describedDraftOf}
      changeOf={describedChangeOf}
    >
      {edit => <DescribedFields {...edit} />}
    </EditPart>
  )
}
