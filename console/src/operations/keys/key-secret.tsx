/** Shows the secret of a key only once. */
import { SecretText } from '../../parts/secret-text.tsx'
import { useTexts } from '../../texts/texts.tsx'

export function KeySecret({ secret }: { readonly secret: string }) {
  const texts = useTexts().operations.keys
  const { secretOnce: once, secret: name, copySecret: copy, copied, notCopied } = texts
  return <SecretText {...{ secret, once, name, copy, copied, notCopied }} />
}
