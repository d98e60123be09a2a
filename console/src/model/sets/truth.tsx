/**
 * Shows the result of a condition (true, false or unknown) with a word, a mark and a color, and the results
 * of its tests.
 */
import { Badge } from '../../parts/page.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { operandWords } from './condition-words.ts'
import type { TriedSample } from './use-trial.ts'

type TruthValue = TriedSample['value']
type TriedTest = TriedSample['conditions'][number]

const LOOKS = {
  true: { kind: 'allow', mark: '✓' },
  false: { kind: 'deny', mark: '✕' },
  unknown: { kind: 'warn', mark: '?' },
} as const

/** If `isWhole`, the result is that of a whole set and is labeled as a match. */
export function Truth({
  value,
  isWhole = false,
}: {
  readonly value: TruthValue
  readonly isWhole?: boolean
}) {
  const texts = useTexts().model.sets.trial
  const { kind, mark } = LOOKS[value]
  return (
    <Badge kind={kind}>
      <span aria-hidden="true">{mark}</span>
      {isWhole ? texts.verdicts[value] : texts.truths[value]}
    </Badge>
  )
}

export function TriedTests({ tested, label }: { readonly tested: TriedSample; readonly label: string }) {
  const texts = useTexts().model.sets.trial
  const { conditions, more } = tested
  if (conditions.length === 0) return null
  return (
    <>
      <ul className="tried-tests" aria-label={label}>
        {conditions.map((test, index) => (
          <li key={index}>
            <Truth value={test.value} />
            <span>
              <code>
                {test.path} {test.operator} {operandWords(test.operand)}
              </code>{' '}
              <span className="soft">{foundIn(test, texts)}</span>{' '}
              {test.set === undefined ? null : <Badge>{texts.ofSet(test.set)}</Badge>}
            </span>
          </li>
        ))}
      </ul>
      {more ? <p className="small soft">{texts.more}</p> : null}
    </>
  )
}

function foundIn(
  { found, is_missing }: TriedTest,
  texts: { readonly missing: string; readonly found: (value: string) => string },
): string {
  return is_missing ? texts.missing : texts.found(shown(found))
}

const SHOWN_MAX = 120

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX - 1)}…` : text
}
