/** Attributes that the model declares for instances of a type. */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { AddAttribute } from '../dialogs/add-attribute.tsx'
import { EditAttribute } from '../dialogs/edit-attribute.tsx'
import { RemovePart } from '../dialogs/remove-part.tsx'
import type { ModelType } from '../model-reads.ts'
import { addAttribute, removeAttribute } from '../model-writes.ts'
import { PanelSection } from '../panel-section.tsx'

export function Attributes({ type }: { readonly type: ModelType }) {
  const { path } = useCurrentEnvironment()
  const texts = useTexts().model.graph
  return (
    <PanelSection
      title={texts.attributes}
      items={Object.values(type.attributes)}
      none={texts.noAttributes}
      add={<AddAttribute type={type.key} />}
      itemKey={({ key }) => key}
    >
      {({ key, type: kind, description }) => (
        <>
          <span className="stack tight">
            <span>
              <code>{key}</code> <span className="soft">{texts.kinds[kind]}</span>
            </span>
            {description === null ? null : <span className="soft small">{description}</span>}
          </span>
          <span className="row tight-end">
            <EditAttribute type={type.key} attribute={key} />
            <RemovePart
              label={texts.removeAttribute.label(key)}
              title={texts.removeAttribute.title}
              sentence={texts.removeAttribute.sentence(key, type.key)}
              message={texts.removeAttribute.done(key, type.key)}
              remove={() => removeAttribute(path, type.key, key)}
              undo={() => addAttribute(path, type.key, { key, type: kind, description })}
            />
          </span>
        </>
      )}
    </PanelSection>
  )
}
