/** To be written. */
import { Page } from '../parts/page.tsx'

export default function ModelPages() {
  return <Page title="ModelPages">{null}</Page>
}
