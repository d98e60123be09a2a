/** Result of each source of access: tenant roles, resource roles and rules. */
import type { Explained } from '../explanation/explained.ts'
import { Badge, Card } from '../parts/page.tsx'
import { useTexts } from '../texts/texts.tsx'

const PARTS = ['rbac', 'rebac', 'abac'] as const

export function ResultBySource({ debug, rules }: Pick<Explained, 'debug' | 'rules'>) {
  const texts = useTexts().questions.parts
  return (
    <Card title={texts.title}>
      <ul className="result-by-source">
        {PARTS.map(part => {
          const { allow, code, reason } = debug[part]
          return (
            <li key={part}>
              <h3>
                {texts[part]}{' '}
                <Badge {...(allow ? { kind: 'allow' as const } : {})}>
                  {allow ? `✓ ${texts.yes}` : `– ${texts.no}`}
                </Badge>
              </h3>
              <p>
                {code === 'no_matching_rules' && rules === undefined
                  ? texts.noRule
                  : (texts.codes[code] ?? texts.otherCode(code))}
              </p>
              <p className="soft small">{texts.service(reason)}</p>
              {part === 'rebac' && debug.rebac.truncated ? <p className="small">{texts.truncated}</p> : null}
            </li>
          )
        })}
      </ul>
    </Card>
  )
}
