/** To be written. */
import { Page } from '../parts/page.tsx'

export default function QuestionPage() {
  return <Page title="QuestionPage">{null}</Page>
}
