/**
 * Shows what depends on a condition set and is affected by a change of it: the rules that use the set, and
 * its child sets.
 */
import type { ReactNode } from 'react'
import { useSpoken } from '../../texts/texts.tsx'
import { RuleText } from './rule-text.tsx'
import type { ConditionSet } from './set-draft.ts'
import { NAMED_RULES_MAX, useRestingOn } from './use-set.ts'

/** `sentence` returns a sentence about the change. Its argument is the number of rules that use the set. */
export function Resting({
  set,
  sentence,
}: {
  readonly set: ConditionSet
  readonly sentence: (name: string, rules: string) => ReactNode
}) {
  const { texts: all, number } = useSpoken()
  const texts = all.model.sets
  const { data } = useRestingOn(set)
  if (data === undefined) return <>{all.parts.loading}</>
  const { rules, total, below } = data
  return (
    <span className="stack tight">
      <span>{total === 0 ? texts.noRuleRests(set.name) : sentence(set.name, number(total))}</span>
      {rules.slice(0, NAMED_RULES_MAX).map(rule => (
        <span key={rule.id} className="small">
          <RuleText rule={rule} />
        </span>
      ))}
      {total > NAMED_RULES_MAX ? (
        <span className="small soft">{texts.andMore(number(total - NAMED_RULES_MAX))}</span>
      ) : null}
      {below.length > 0 ? (
        <span>
          {texts.below(
            below.slice(0, NAMED_RULES_MAX).map(({ name }) => name),
            below.length,
          )}
        </span>
      ) : null}
    </span>
  )
}
