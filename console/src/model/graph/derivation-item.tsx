/** A derivation, described in a sentence: users who hold one role get another role. */
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { RemovePart } from '../dialogs/remove-part.tsx'
import { type Derivation, isGuarded } from '../model-facts.ts'
import { addDerivation, removeDerivation } from '../model-writes.ts'

export function DerivationItem({
  derivation,
  type,
}: {
  readonly derivation: Derivation
  readonly type: string
}) {
  const texts = useTexts().model.graph
  const { path } = useCurrentEnvironment()
  const { from, to, along, isOfGroups } = derivation
  const sentence = texts.derivationSentence(
    from.role,
    from.type,
    to.role,
    to.type,
    along,
    isGuarded(derivation),
  )
  return (
    <>
      <span className="stack tight">
        <span>{sentence}</span>
        {isOfGroups ? <span className="soft small">{texts.ofGroups}</span> : null}
      </span>
      {to.type === type ? (
        <RemovePart
          label={texts.removeDerivation.label(sentence)}
          title={texts.removeDerivation.title}
          sentence={texts.removeDerivation.sentence(from.role, from.type, to.role, to.type, along)}
          message={texts.removeDerivation.done(from.role, from.type, to.role, to.type)}
          remove={() => removeDerivation(path, derivation)}
          undo={() => addDerivation(path, derivation)}
        />
      ) : null}
    </>
  )
}
