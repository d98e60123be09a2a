/** To be written. */
export default function ModelFilePage() {
  return null
}
