/** To be written. */
export default function MatrixPage() {
  return null
}
