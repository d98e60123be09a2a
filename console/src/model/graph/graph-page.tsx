/** To be written. */
export default function GraphPage() {
  return null
}
