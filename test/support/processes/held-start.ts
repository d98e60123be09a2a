/** Starts of services that a test can delay. */
import { onTestFinished, vi } from 'vitest'
import { OpenEnvironments } from '#management/organization/environment-opening.ts'

/** Delays the loading of environments in services of this process until the returned function is called. */
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
