/**
 * Results of rules on condition sets. Each side of a rule shows its conditions as a tree, in which every
 * condition is true, false or unknown.
 */
import type { Explained, Rule } from '../explanation/explained.ts'
import { namesOfRule, resourceSideNode, type PathNode, userSideNode } from '../explanation/path-nodes.ts'
import { Badge, Card } from '../parts/page.tsx'
import { useTexts } from '../texts/texts.tsx'
import { isTest, type Test, type Tree, type Truth, treeOf } from './condition-tree.ts'

/** Number of rules that are initially open. */
const OPEN_MAX = 3
/** Number of tree levels that are initially open. */
const OPEN_LEVELS = 3

export function Rules({ rules = [], more }: Pick<Explained, 'rules' | 'more'>) {
  const texts = useTexts().questions.rules
  if (rules.length === 0) return null
  return (
    <Card title={texts.title}>
      <p className="soft">{texts.lead}</p>
      <ul className="rules">
        {rules.map((rule, index) => (
          <li key={index}>
            <OneRule rule={rule} isOpen={index < OPEN_MAX} />
          </li>
        ))}
      </ul>
      {more ? <p className="soft">{texts.more}</p> : null}
    </Card>
  )
}

function OneRule({ rule, isOpen }: { readonly rule: Rule; readonly isOpen: boolean }) {
  const all = useTexts()
  const texts = all.questions.rules
  const names = namesOfRule(rule)
  const user = userSideNode(names, all.explanation)
  const resource = resourceSideNode(names, all.explanation)
  const allows = rule.outcome === 'yes'
  return (
    <details className="rule" open={isOpen}>
      <summary>
        <span className="rule-name">
          <Set node={user} /> <span aria-hidden="true">→</span> <Set node={resource} />
        </span>
        <Badge kind={allows ? 'allow' : 'deny'}>
          {allows ? '✓' : '✕'} {allows ? texts.allows : texts.allowsNot}
        </Badge>
      </summary>
      <div className="columns">
        <RuleSide
          title={texts.user}
          side={rule.user}
          plain={
            user.kind === 'set'
              ? texts.withoutConditions
              : rule.user.value === 'true'
                ? texts.roleHeld
                : texts.roleNotHeld
          }
        />
        <RuleSide
          title={texts.resource}
          side={rule.resource}
          plain={resource.kind === 'set' ? texts.withoutConditions : texts.typeHeld}
        />
      </div>
    </details>
  )
}

function Set({ node: { kindText, key } }: { readonly node: PathNode }) {
  return (
    <>
      <span className="soft">{kindText}</span> <b>{key}</b>
    </>
  )
}

/** `plain` is the text for a side that has no conditions. */
function RuleSide({
  title,
  side,
  plain,
}: {
  readonly title: string
  readonly side: Rule['user']
  readonly plain: string
}) {
  const tree = treeOf(side)
  return (
    <div className="rule-side">
      <h3>
        {title} <TruthMark value={side.value} />
      </h3>
      {tree === null ? <p className="soft">{plain}</p> : <ul className="conditions">{node(tree, 0, '0')}</ul>}
    </div>
  )
}

function node(tree: Tree, level: number, key: string) {
  return (
    <li key={key} className={tree.value}>
      {isTest(tree) ? <TestResult test={tree} /> : <Connective tree={tree} level={level} />}
    </li>
  )
}

function Connective({ tree, level }: { readonly tree: Exclude<Tree, Test>; readonly level: number }) {
  const texts = useTexts().questions.rules
  const word = { allOf: texts.all, anyOf: texts.any, not: texts.not }[tree.connective]
  return (
    <details open={level < OPEN_LEVELS}>
      <summary>
        <TruthMark value={tree.value} /> {word}
      </summary>
      <ul className="conditions">
        {tree.items.map((child, index) => node(child, level + 1, String(index)))}
      </ul>
    </details>
  )
}

function TestResult({ test }: { readonly test: Test }) {
  const texts = useTexts().questions.rules
  return (
    <div className="test">
      <TruthMark value={test.value} />
      <span>
        <code>{test.path}</code> {test.operator}{' '}
        {test.operand === undefined ? null : <code>{valueText(test.operand)}</code>}
        <span className="found soft">
          {texts.found}: {test.is_missing ? <i>{texts.missing}</i> : <code>{valueText(test.found)}</code>}
        </span>
      </span>
    </div>
  )
}

const MARKS = { true: '✓', false: '✕', unknown: '?' } as const
const LOOKS = { true: 'allow', false: 'deny', unknown: 'warn' } as const

function TruthMark({ value }: { readonly value: Truth }) {
  const texts = useTexts().questions.rules
  return (
    <Badge kind={LOOKS[value]}>
      <span aria-hidden="true">{MARKS[value]}</span> {texts.truth[value]}
    </Badge>
  )
}

/**
 * Maximum length of a shown value. Longer values are truncated, because users usually need to see only
 * whether a value is missing or different.
 */
const VALUE_LENGTH_MAX = 300

function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
}
