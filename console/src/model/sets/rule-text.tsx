/** A rule, in a sentence; and its sides by the names that people gave them. */
import { Fragment } from 'react'
import { useTexts } from '../../texts/texts.tsx'
import type { SetRule } from './use-set.ts'

/** Keys of computed sets begin so. */
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
        // Words, and between them the three parts of a rule.
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
