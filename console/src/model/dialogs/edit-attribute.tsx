/** Dialog that edits an attribute: the type of its values and its description. */
import { TextInput } from '../../parts/fields.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { type AttributeKind, editableAttribute } from '../model-edits.ts'
import { EditPart } from './edit-part.tsx'
import { KindChoice } from './kind-choice.tsx'

interface Draft {
  readonly kind: AttributeKind
  readonly description: string
}

const BLANK: Draft = { kind: 'string', description: '' }

export function EditAttribute({ type, attribute }: { readonly type: string; readonly attribute: string }) {
  const { editAttribute: texts, edit: common } = useTexts().model.graph
  const { path } = useCurrentEnvironment()
  return (
    <EditPart
      label={texts.label(attribute)}
      title={texts.title(attribute, type)}
      sentence={texts.sentence(attribute)}
      message={texts.done(attribute, type)}
      editable={editableAttribute(path, type, attribute)}
      blank={BLANK}
      draftOf={(thing): Draft => ({ kind: thing.type, description: thing.description ?? '' })}
      changeOf={({ kind, description }) => ({
        type: kind,
        description: description === '' ? null : description,
      })}
    >
      {({ draft, set, isRead, now, problem }) => (
        <>
          <TextInput
            label={common.description}
            value={draft.description}
            onChange={description => set({ description })}
            description={now === null ? undefined : common.now(now.description)}
            problem={problem?.about('description')}
            isReadOnly={!isRead}
            autoFocus
          />
          <KindChoice
            value={draft.kind}
            onChange={kind => set({ kind })}
            description={now === null ? undefined : common.now(now.kind)}
            problem={problem?.about('type')}
            isDisabled={!isRead}
          />
        </>
      )}
    </EditPart>
  )
}
