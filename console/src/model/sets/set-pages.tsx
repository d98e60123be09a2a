/** To be written. */
export default function SetPages() {
  return null
}
