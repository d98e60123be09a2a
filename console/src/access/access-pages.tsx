/** To be written. */
import { Page } from '../parts/page.tsx'

export default function AccessPages() {
  return <Page title="AccessPages">{null}</Page>
}
