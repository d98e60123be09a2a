/** To be written. */
import { Page } from '../parts/page.tsx'

export default function OperationPages() {
  return <Page title="OperationPages">{null}</Page>
}
