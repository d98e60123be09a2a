/** To be written. */
import { Page } from '../parts/page.tsx'

export default function GroupPages() {
  return <Page title="GroupPages">{null}</Page>
}
