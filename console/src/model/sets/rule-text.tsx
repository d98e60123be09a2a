/** A rule as a sentence, with the names of its sets. */
import { Fragment } from 'react'
import { useTexts } from '../../texts/texts.tsx'
import type { SetRule } from './use-set.ts'

/** Prefix of the keys of sets that the service generates. */
const COMPUTED = '__autogen_'

export function RuleText({
  rule,
}: {
  readonly rule: Pick<SetRule, 'user_set' | 'permission' | 'resource_set'>
}) {
  const texts = useTexts().model.sets
  return (
    <>
      {texts.rule.map((part, index) => (
        // `words` describes the sentence. The three parts of the rule are inserted between its words.
        <Fragment key={index}>
          {part === 'user' ? (
            <SideName side={rule.user_set} what={texts.role} />
          ) : part === 'permission' ? (
            <code>{rule.permission}</code>
          ) : part === 'resource' ? (
            <SideName side={rule.resource_set} what={texts.allOf} />
          ) : (
            part
          )}
        </Fragment>
      ))}
    </>
  )
}

export function SideName({ side, what }: { readonly side: string; readonly what: (key: string) => string }) {
  return side.startsWith(COMPUTED) ? <>{what(side.slice(COMPUTED.length))}</> : <code>{side}</code>
}
