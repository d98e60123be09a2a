/** Action groups of a type. An action group is a name for several actions. */
import { Badge } from '../../parts/page.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { AddActionGroup } from '../dialogs/add-action-group.tsx'
import { EditActionGroup } from '../dialogs/edit-action-group.tsx'
import { RemovePart } from '../dialogs/remove-part.tsx'
import { editableActionGroup } from '../model-edits.ts'
import type { ModelType } from '../model-reads.ts'
import { addActionGroup, removeActionGroup } from '../model-writes.ts'
import { PanelSection } from '../panel-section.tsx'

export function ActionGroups({ type }: { readonly type: ModelType }) {
  const { path } = useCurrentEnvironment()
  const texts = useTexts().model.graph
  const actions = Object.keys(type.actions)
  // If the type has no actions, there is nothing to group.
  if (actions.length === 0) return null
  return (
    <PanelSection
      title={texts.actionGroups}
      items={Object.entries(type.action_groups)}
      none={texts.noActionGroups}
      add={<AddActionGroup type={type.key} actions={actions} />}
      itemKey={([key]) => key}
    >
      {([key, members]) => (
        <>
          <span className="stack tight">
            <code>{key}</code>
            <span className="row tags">
              {members.map(member => (
                <Badge key={member}>{member}</Badge>
              ))}
            </span>
          </span>
          <span className="row tight-end">
            <EditActionGroup type={type.key} group={key} actions={actions} />
            <RemovePart
              label={texts.removeActionGroup.label(key)}
              title={texts.removeActionGroup.title}
              sentence={texts.removeActionGroup.sentence(key, type.key)}
              message={texts.removeActionGroup.done(key, type.key)}
              remove={async () => {
                // Reads the group directly before it is removed, so that the undo restores exactly the
                // removed content.
                const { value, tag } = await editableActionGroup(path, type.key, key).load()
                await removeActionGroup(path, type.key, key, tag)
                return value
              }}
              undo={({ name, description, attributes, actions: stood }) =>
                addActionGroup(path, type.key, { key, name, description, attributes, actions: stood })
              }
            />
          </span>
        </>
      )}
    </PanelSection>
  )
}
