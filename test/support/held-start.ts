/** Services that do not get ready before they may: a start that takes as long as what a test does meanwhile. */
import { onTestFinished, vi } from 'vitest'
import { OpenEnvironments } from '#management/organization/open-environments.ts'

/** From here on the threads of a service of this process listen, and its environments come when this is called. */
export function holdStarts(): () => void {
  const { load } = OpenEnvironments.prototype
  const held = Promise.withResolvers<void>()
  const loading = vi.spyOn(OpenEnvironments.prototype, 'load').mockImplementation(async function (
    this: OpenEnvironments,
  ) {
    await held.promise
    return load.call(this)
  })
  onTestFinished(() => {
    held.resolve()
    loading.mockRestore()
  })
  return held.resolve
}
