/**
 * Dialog that edits the guard of a role. With a guard, the derivations of the role have no effect for users
 * who hold a direct role on the object.
 */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { Check } from '../check.tsx'
import { editableGuard } from '../model-edits.ts'
import { EditPart } from './edit-part.tsx'

export function EditGuard({ type, role }: { readonly type: string; readonly role: string }) {
  const { guard: texts, edit: common } = useTexts().model.graph
  const { path } = useCurrentEnvironment()
  return (
    <EditPart
      trigger={texts.open}
      label={texts.label(role)}
      title={texts.title(role, type)}
      sentence={({ isGuarded }) => (isGuarded ? texts.guards(role, type) : texts.frees(role, type))}
      message={texts.done(role, type)}
      editable={editableGuard(path, type, role)}
      blank={{ isGuarded: false }}
      draftOf={isGuarded => ({ isGuarded })}
      changeOf={({ isGuarded }) => isGuarded}
    >
      {({ draft, set, now }) => (
        <>
          <Check isOn={draft.isGuarded} onChange={isGuarded => set({ isGuarded })}>
            {texts.check(type)}
          </Check>
          {now === null ? null : (
            <p className="soft small">{common.now(now.isGuarded ? texts.on : texts.off)}</p>
          )}
        </>
      )}
    </EditPart>
  )
}
