/**
 * Page for a check ("Why is this denied?"). It shows the form, the result, and the path that explains it. The
 * address contains the check, so a link repeats it.
 */
import { useLocation } from 'wouter'
import { ActionLink } from '../parts/action.tsx'
import { Card, Page } from '../parts/page.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useDecides } from '../session/decides.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import type { Texts } from '../texts/en.ts'
import { useTexts } from '../texts/texts.tsx'
import '../styles/questions.css'
import { Answer } from './answer.tsx'
import { type Explanation, useExplanation } from './explanation.ts'
import { isComplete, type Question, questionAddress, questionIn } from './question.ts'
import { isAboutField, QuestionForm } from './question-form.tsx'
import { whySentence } from './why.ts'

export default function QuestionPage() {
  const all = useTexts()
  const texts = all.questions
  const environment = useCurrentEnvironment()
  // The hash is read directly, because the router decodes addresses. The hook of the router is used only to
  // render the page again after a navigation.
  const [, go] = useLocation()
  const { hash } = globalThis.location
  const asked = questionIn(hash)
  const decides = useDecides()
  const mayNot = decides === 'not' || decides === 'elsewhere'
  const { data, error, isFetching, isLoading, refetch } = useExplanation(asked, decides === 'here')
  const ask = (question: Question): void => {
    const address = questionAddress(environment, question)
    if (`#${address}` === hash) void refetch()
    else go(address)
  }
  return (
    <Page title={texts.title} lead={texts.lead}>
      {mayNot ? <MayNotDecide reason={decides === 'not' ? 'manages' : 'elsewhere'} /> : null}
      <Card>
        <QuestionForm asked={asked} onAsk={ask} isUnderWay={isFetching} isDisabled={mayNot} problem={error} />
      </Card>
      {isAboutField(error) ? null : <ProblemNote error={error} />}
      {isLoading ? <Skeleton /> : null}
      <p className="heard" role="status">
        {data === undefined ? null : answerHeard(data, all)}
      </p>
      {data === undefined || error !== null ? null : <Answer key={hash} explanation={data} />}
      {isComplete(asked) || decides !== 'here' ? null : <div className="empty">{texts.empty}</div>}
    </Page>
  )
}

/** The result in one or two sentences, for screen readers. */
function answerHeard(explanation: Explanation, texts: Texts): string {
  const { allow, deny } = texts.questions
  return `${explanation.explained.allow ? allow : deny}. ${whySentence(explanation, texts)}`
}

/**
 * Shown if the key cannot request this check. Management keys cannot request decisions, and environment keys
 * can do so only in their own environment.
 */
function MayNotDecide({ reason }: { readonly reason: 'manages' | 'elsewhere' }) {
  const texts = useTexts().questions.mayNot
  const environment = useCurrentEnvironment()
  return (
    <div className="note warn" role="status">
      <b>{texts.title}</b>
      <span>{texts[reason]}</span>
      {reason === 'manages' ? (
        <span>
          <ActionLink to={environment.to('operations', 'keys')} isSmall>
            {texts.keys}
          </ActionLink>
        </span>
      ) : null}
    </div>
  )
}
