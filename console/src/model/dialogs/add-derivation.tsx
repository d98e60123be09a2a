/**
 * Dialog that adds a derivation. Users with a role on an instance, such as a folder, get a role on the
 * related instances of this type, such as the documents in the folder.
 */
import { useState } from 'react'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { Choice } from '../../parts/fields.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { type Derivation, isGuarded, relationsOf, rolesOf } from '../model-facts.ts'
import { type ModelType, useType } from '../model-reads.ts'
import { addDerivation, removeDerivation } from '../model-writes.ts'
import { Check } from '../check.tsx'
import { useAdd } from './use-add.ts'

export function AddDerivation({ type }: { readonly type: ModelType }) {
  const texts = useTexts().model.graph
  const { path } = useCurrentEnvironment()
  const make = useAdd()
  const relations = relationsOf(type)
  const roles = rolesOf(type)
  const [along, setAlong] = useState<string | null>(null)
  const [fromRole, setFromRole] = useState<string | null>(null)
  const [toRole, setToRole] = useState<string | null>(null)
  const [guardsItself, setGuardsItself] = useState(false)
  const relation = relations.find(({ key }) => key === along)
  const { data: subject } = useType(relation?.subject ?? '', relation !== undefined)
  if (relations.length === 0 || roles.length === 0) return null
  const derivation: Derivation | null =
    relation === undefined || fromRole === null || toRole === null
      ? null
      : {
          from: { type: relation.subject, role: fromRole },
          to: { type: type.key, role: toRole },
          along: relation.key,
          guard: {
            ofItself: guardsItself,
            ofRole: type.roles[toRole]?.granted_to.when.no_direct_roles_on_object ?? false,
          },
          isOfGroups: false,
        }
  return (
    <ActionDialog
      needs="write"
      trigger={texts.addDerivation.open}
      triggerLook={{ kind: 'quiet', isSmall: true }}
      title={texts.addDerivation.title(type.key)}
      sentence={
        derivation === null
          ? texts.addDerivation.unfinished
          : texts.addDerivation.sentence(
              derivation.from.role,
              derivation.from.type,
              derivation.to.role,
              type.key,
              derivation.along,
              isGuarded(derivation),
            )
      }
      submit={texts.add}
      onOpen={() => {
        setAlong(relations.length === 1 ? relations[0]!.key : null)
        setFromRole(null)
        setToRole(roles.length === 1 ? roles[0]!.key : null)
        setGuardsItself(false)
      }}
      isReady={derivation !== null}
      onSubmit={() =>
        make({
          add: () => addDerivation(path, derivation!),
          message: texts.addDerivation.done(fromRole!, derivation!.from.type, toRole!, type.key),
          remove: tag => removeDerivation(path, derivation!, tag),
        })
      }
    >
      {() => (
        <>
          <Choice
            label={texts.addDerivation.along}
            value={along}
            onChange={chosen => {
              setAlong(chosen)
              setFromRole(null)
            }}
            options={relations.map(({ key, subject: from }) => ({ id: key, note: from }))}
          />
          <Choice
            label={texts.addDerivation.fromRole(relation?.subject ?? '…')}
            value={fromRole}
            onChange={setFromRole}
            options={subject === undefined ? [] : rolesOf(subject).map(({ key }) => ({ id: key }))}
            isDisabled={subject === undefined}
          />
          <Choice
            label={texts.addDerivation.toRole(type.key)}
            value={toRole}
            onChange={setToRole}
            options={roles.map(({ key }) => ({ id: key }))}
          />
          <Check isOn={guardsItself} onChange={setGuardsItself}>
            {texts.addDerivation.guard(type.key)}
          </Check>
        </>
      )}
    </ActionDialog>
  )
}
